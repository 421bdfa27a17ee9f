// What our kernels with the copy engine do, as an expert writes it: the same tiles, stages, threads
// and elements a thread.
//
// One thread announces the bytes of a stage at its mbarrier and starts a bulk copy for each tile in
// it. Each thread that has read a stage fences between the proxies before the barrier, or the
// arrival, after which the stage is filled again (PTX ISA, "Async proxy"; `Fence`). Whole tiles go
// through the loops, whose bounds are hoisted; the partial last one follows.
#pragma once

#include "average.cuh"
#include "wide_roles.cuh"

// Who orders what threads have read of a stage before the copy engine's next writes to it.
enum class Fence {
    READERS, // each thread that has read, before it hands the stage back
    ISSUER,  // the thread that fills, after it knows that all have handed the stage back
    NONE,    // nobody: it is measured, and no program should do it
};

extern __shared__ __align__(128) unsigned char bulk_memory[];

// Announces BYTES bytes of bulk copies at a barrier, and arrives there.
template <unsigned BYTES> __device__ __forceinline__ void arrive_expecting(unsigned barrier) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "n"(BYTES) : "memory");
}

// Copies BYTES bytes into shared memory, and completes them at a barrier.
template <unsigned BYTES> __device__ __forceinline__ void load_bulk(unsigned to, const void *from, unsigned barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from),
                 "n"(BYTES), "r"(barrier)
                 : "memory");
}

// Stages of INPUTS tiles of LEN elements each in dynamic shared memory, and after them their
// mbarriers: `full` for the bytes of a stage to land and, where RELEASES are counted, `empty` for
// so many threads to hand it back. A tile has EDGES elements more than LEN.
template <class T, unsigned LEN, unsigned STAGES, unsigned INPUTS = 1, unsigned RELEASES = 0, unsigned EDGES = 0>
struct BulkStages {
    static constexpr unsigned TILE_BYTES = (LEN + EDGES) * sizeof(T), BYTES = INPUTS * TILE_BYTES;
    unsigned first, full, empty;

    // The block makes the mbarriers.
    __device__ __forceinline__ BulkStages() {
        first = unsigned(__cvta_generic_to_shared(bulk_memory));
        full = first + STAGES * BYTES;
        empty = full + STAGES * 8;
        if (threadIdx.x == 0) {
#pragma unroll
            for (unsigned stage = 0; stage < STAGES; ++stage) {
                mbarrier_init(full + stage * 8, 1);
                if (RELEASES > 0) mbarrier_init(empty + stage * 8, RELEASES);
            }
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        }
        __syncthreads();
    }

    // Tile `input` of a stage.
    __device__ __forceinline__ const T *tile(unsigned stage, unsigned input) const {
        return reinterpret_cast<const T *>(bulk_memory + stage * BYTES + input * TILE_BYTES);
    }

    // One thread starts to fill a stage with the tiles that begin at these addresses.
    __device__ __forceinline__ void fill(unsigned stage, const T *const (&sources)[INPUTS]) const {
        const unsigned barrier = full + stage * 8;
        arrive_expecting<BYTES>(barrier);
#pragma unroll
        for (unsigned input = 0; input < INPUTS; ++input) {
            load_bulk<TILE_BYTES>(first + stage * BYTES + input * TILE_BYTES, sources[input], barrier);
        }
    }

    __device__ __forceinline__ void wait(unsigned stage, unsigned parity) const { mbarrier_wait(full + stage * 8, parity); }
};

// Streams this block's tiles from `from` to below `end`, every `step`-th: all stages are filled,
// then each round waits, computes and fills again. `sources(tile, addresses)` says where a tile
// begins, `compute(tile, stage)` is called by every thread with the landed tiles.
template <unsigned STAGES, Fence FENCE, unsigned INPUTS, class T, class STAGES_OF, class SOURCES, class COMPUTE>
__device__ __forceinline__ void bulk_rounds(const STAGES_OF &stages, unsigned from, unsigned end, const SOURCES &sources,
                                            const COMPUTE &compute, unsigned step = gridDim.x) {
    const auto fill = [&](unsigned tile, unsigned stage) {
        if (threadIdx.x != 0 || tile >= end) return;
        const T *addresses[INPUTS];
        sources(tile, addresses);
        stages.fill(stage, addresses);
    };
    unsigned ahead = from, stage = 0, parity = 0;
#pragma unroll
    for (unsigned filled = 0; filled < STAGES; ++filled, ahead += step) fill(ahead, filled);
    for (unsigned tile = from; tile < end; ahead += step) {
        stages.wait(stage, parity);
        compute(tile, stage);
        tile += step;
        if (tile >= end) break;
        if constexpr (FENCE == Fence::READERS) proxy_fence();
        __syncthreads();
        if constexpr (FENCE == Fence::ISSUER) {
            if (threadIdx.x == 0) proxy_fence();
        }
        fill(ahead, stage);
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
}

// The same over all whole tiles of LEN elements of one input or of two of one length.
template <class T, unsigned LEN, unsigned STAGES, Fence FENCE, unsigned INPUTS, class COMPUTE>
__device__ __forceinline__ void bulk_tiles(const View<T> (&in)[INPUTS], const COMPUTE &compute) {
    const BulkStages<T, LEN, STAGES, INPUTS> stages;
    const auto sources = [&](unsigned tile, const T *(&addresses)[INPUTS]) {
#pragma unroll
        for (unsigned input = 0; input < INPUTS; ++input) addresses[input] = in[input].base + (unsigned long long)tile * LEN;
    };
    const auto landed = [&](unsigned tile, unsigned stage) {
        compute((unsigned long long)tile * LEN, stages.tile(stage, 0), stages.tile(stage, INPUTS - 1));
    };
    bulk_rounds<STAGES, FENCE, INPUTS, T>(stages, blockIdx.x, unsigned(in[0].len / LEN), sources, landed);
}

// The elements of the partial last tile of LEN, if there is one and it is this block's.
template <unsigned THREADS, unsigned LEN, class T, class EACH>
__device__ __forceinline__ void bulk_last(const View<T> &in, const EACH &each) {
    const unsigned long long whole = in.len / LEN;
    if (whole * LEN == in.len || whole % gridDim.x != blockIdx.x) return;
    for (unsigned long long at = whole * LEN + threadIdx.x; at < in.len; at += THREADS) each(at);
}

// The element after `at` in its group of GROUP; zero where there is none.
template <unsigned GROUP, class T> __device__ __forceinline__ T bulk_next(const View<T> &in, unsigned long long at) {
    const unsigned long long next = at / GROUP * GROUP + (at + 1) % GROUP;
    return next < in.len ? in.base[next] : T{};
}

// Sums of neighbours in groups of TILE, four ints a thread in a row, larger tiles in rounds of
// THREADS rows (`with_staging_unified_wide`).
template <unsigned THREADS, unsigned LEN, unsigned STAGES, Fence FENCE = Fence::READERS>
__device__ __forceinline__ void bulk_stream(const View<int> in, const View<int> out) {
    const View<int> inputs[] = {in};
    bulk_tiles<int, LEN, STAGES, FENCE>(inputs, [&](unsigned long long start, const int *tile, const int *) {
        compute_tile<THREADS, LEN>(tile, tile, out.base + start, threadIdx.x);
    });
    last_tile<THREADS, LEN>(in, in, out);
}

// The same of two inputs (`example_kernel_bulk`).
template <unsigned THREADS, unsigned LEN, unsigned STAGES>
__device__ __forceinline__ void bulk_two(const View<int> left, const View<int> right, const View<int> out) {
    const View<int> inputs[] = {left, right};
    bulk_tiles<int, LEN, STAGES, Fence::READERS>(inputs, [&](unsigned long long start, const int *one, const int *two) {
        compute_tile<THREADS, LEN>(one, two, out.base + start, threadIdx.x);
    });
    last_tile<THREADS, LEN>(left, right, out);
}

// A thread has one element of a tile (`with_staging_unified`).
template <class T, unsigned LEN, unsigned STAGES>
__device__ __forceinline__ void bulk_each(const View<T> in, const View<T> out) {
    const View<T> inputs[] = {in};
    bulk_tiles<T, LEN, STAGES, Fence::READERS>(inputs, [&](unsigned long long start, const T *tile, const T *) {
        out.base[start + threadIdx.x] = neighbour_sum<LEN>(tile, tile, threadIdx.x);
    });
    bulk_last<LEN, LEN>(in, [&](unsigned long long at) { out.base[at] = plus(triple(in.base[at]), bulk_next<LEN>(in, at)); });
}

// A thread has one element of a tile and reads no other (`scale_own`).
template <unsigned LEN, unsigned STAGES> __device__ __forceinline__ void bulk_own(const View<int> in, const View<int> out) {
    const View<int> inputs[] = {in};
    bulk_tiles<int, LEN, STAGES, Fence::READERS>(inputs, [&](unsigned long long start, const int *tile, const int *) {
        out.base[start + threadIdx.x] = triple(tile[threadIdx.x]);
    });
    bulk_last<LEN, LEN>(in, [&](unsigned long long at) { out.base[at] = triple(in.base[at]); });
}

// Four ints a thread in a row, of each of which `each` makes one of the output.
template <unsigned THREADS, unsigned LEN, unsigned STAGES, class EACH>
__device__ __forceinline__ void bulk_rows(const View<int> &in, const View<int> &out, const EACH &each) {
    const View<int> inputs[] = {in};
    bulk_tiles<int, LEN, STAGES, Fence::READERS>(inputs, [&](unsigned long long start, const int *tile, const int *) {
#pragma unroll
        for (unsigned row = threadIdx.x; row < LEN / 4; row += THREADS) {
            const int4 four = reinterpret_cast<const int4 *>(tile)[row];
            reinterpret_cast<int4 *>(out.base + start)[row] =
                make_int4(each(four.x), each(four.y), each(four.z), each(four.w));
        }
    });
    bulk_last<THREADS, LEN>(in, [&](unsigned long long at) { out.base[at] = each(in.base[at]); });
}

// Three times each element (`scale_own_bulk`).
template <unsigned THREADS, unsigned LEN, unsigned STAGES>
__device__ __forceinline__ void bulk_own_rows(const View<int> in, const View<int> out) {
    bulk_rows<THREADS, LEN, STAGES>(in, out, [](int value) { return triple(value); });
}

// The elements themselves (`copy_bulk`).
template <unsigned THREADS, unsigned LEN, unsigned STAGES>
__device__ __forceinline__ void bulk_copied(const View<int> in, const View<int> out) {
    bulk_rows<THREADS, LEN, STAGES>(in, out, [](int value) { return value; });
}

// The elements themselves, by the engine alone: one thread stores each tile from where it has
// landed, and fills a stage again when the tile before was read (`copy_stored_bulk`).
template <unsigned LEN, unsigned STAGES> __device__ __forceinline__ void bulk_stored(const View<int> in, const View<int> out) {
    const BulkStages<int, LEN, STAGES> stages;
    if (threadIdx.x != 0) return;
    const unsigned whole = unsigned(in.len / LEN), step = gridDim.x;
    const auto fill = [&](unsigned tile, unsigned stage) {
        if (tile >= whole) return;
        const int *const addresses[] = {in.base + (unsigned long long)tile * LEN};
        stages.fill(stage, addresses);
    };
    unsigned ahead = blockIdx.x, stage = 0, parity = 0;
#pragma unroll
    for (unsigned filled = 0; filled + 1 < STAGES; ++filled, ahead += step) fill(ahead, filled);
    for (unsigned tile = blockIdx.x; tile < whole; tile += step, ahead += step) {
        stages.wait(stage, parity);
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out.base + (unsigned long long)tile * LEN),
                     "r"(stages.first + stage * stages.BYTES), "n"(stages.BYTES)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        // All but this tile's.
        asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        fill(ahead, stage == 0 ? STAGES - 1 : stage - 1);
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
    bulk_last<1, LEN>(in, [&](unsigned long long at) { out.base[at] = in.base[at]; });
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

// The moving average, PER ints a thread, whose tiles are copied with their neighbours
// (`moving_average_bulk`, `moving_average_wide_bulk`).
template <unsigned THREADS, unsigned PER, unsigned STAGES>
__device__ __forceinline__ void bulk_average(const View<int> in, const View<int> out) {
    constexpr unsigned LEN = THREADS * PER;
    const BulkStages<int, LEN, STAGES, 1, 0, 2 * RADIUS> stages;
    const InnerTiles<LEN> inner(in);
    const auto sources = [&](unsigned tile, const int *(&address)[1]) {
        address[0] = in.base + (unsigned long long)tile * LEN - RADIUS;
    };
    const auto average = [&](unsigned tile, unsigned stage) {
        const int *window = stages.tile(stage, 0) + threadIdx.x * PER;
        int *own = out.base + (unsigned long long)tile * LEN + threadIdx.x * PER;
        if constexpr (PER == 1) {
            int sum = 0;
#pragma unroll
            for (unsigned tap = 0; tap < 2 * RADIUS + 1; ++tap) sum = plus(sum, window[tap]);
            *own = mean(sum);
        } else {
            means_of<PER>(window, own);
        }
    };
    bulk_rounds<STAGES, Fence::READERS, 1, int>(stages, inner.first, inner.end, sources, average);
    average_edges<THREADS, LEN>(in, out);
}

// Writes the block's sum of all its threads' numbers.
template <unsigned THREADS> __device__ __forceinline__ void write_block_sum(int sum, const View<int> &out) {
    __shared__ int sums[THREADS / 32];
#pragma unroll
    for (unsigned distance = 16; distance > 0; distance /= 2) sum = plus(sum, __shfl_down_sync(~0u, sum, distance));
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned warp = 1; warp < THREADS / 32; ++warp) sum = plus(sum, sums[warp]);
        out.base[blockIdx.x] = sum;
    }
}

__device__ __forceinline__ int product(int a, int b) { return int(unsigned(a) * unsigned(b)); }

// The sum of the block's tiles, four ints a thread in a row (`sum_bulk`).
template <unsigned THREADS, unsigned LEN, unsigned STAGES>
__device__ __forceinline__ void bulk_sum(const View<int> in, const View<int> out) {
    const View<int> inputs[] = {in};
    int sum = 0;
    bulk_tiles<int, LEN, STAGES, Fence::READERS>(inputs, [&](unsigned long long, const int *tile, const int *) {
#pragma unroll
        for (unsigned row = threadIdx.x; row < LEN / 4; row += THREADS) {
            sum = plus(sum, sum_of(reinterpret_cast<const int4 *>(tile)[row]));
        }
    });
    bulk_last<THREADS, LEN>(in, [&](unsigned long long at) { sum = plus(sum, in.base[at]); });
    write_block_sum<THREADS>(sum, out);
}

// The dot product of the block's tiles (`dot_bulk`).
template <unsigned THREADS, unsigned LEN, unsigned STAGES>
__device__ __forceinline__ void bulk_dot(const View<int> left, const View<int> right, const View<int> out) {
    const View<int> inputs[] = {left, right};
    int sum = 0;
    bulk_tiles<int, LEN, STAGES, Fence::READERS>(inputs, [&](unsigned long long, const int *one, const int *two) {
#pragma unroll
        for (unsigned row = threadIdx.x; row < LEN / 4; row += THREADS) {
            const int4 a = reinterpret_cast<const int4 *>(one)[row], b = reinterpret_cast<const int4 *>(two)[row];
            sum = plus(sum, plus(plus(product(a.x, b.x), product(a.y, b.y)), plus(product(a.z, b.z), product(a.w, b.w))));
        }
    });
    bulk_last<THREADS, LEN>(left, [&](unsigned long long at) { sum = plus(sum, product(left.base[at], right.base[at])); });
    write_block_sum<THREADS>(sum, out);
}

// Between roles: the first producer fills, and every consumer, which has PER elements, hands a
// stage back (`with_specialized_staging_unified`, `with_specialized_staging_warps` and the same
// with `_bulk`). An int alone has its next one in a tile, those in rows of four in groups of TILE.
template <unsigned PRODUCERS, unsigned CONSUMERS, unsigned PER, unsigned STAGES, Roles ROLES>
__device__ __forceinline__ void bulk_roles(const View<int> in, const View<int> out) {
    constexpr unsigned LEN = CONSUMERS * PER, GROUP = PER == 1 ? LEN : TILE;
    const BulkStages<int, LEN, STAGES, 1, CONSUMERS> stages;
    const WideRole<PRODUCERS, ROLES> role;
    const unsigned end = unsigned(in.len / LEN);
    unsigned stage = 0, parity = role.producer ? 1 : 0; // every stage is empty at first
    const auto next = [&] {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    };
    if (role.producer) {
        if (role.rank == 0) {
            for (unsigned tile = blockIdx.x; tile < end; tile += gridDim.x) {
                mbarrier_wait(stages.empty + stage * 8, parity);
                const int *const source[] = {in.base + (unsigned long long)tile * LEN};
                stages.fill(stage, source);
                next();
            }
        }
    } else {
        for (unsigned tile = blockIdx.x; tile < end; tile += gridDim.x) {
            stages.wait(stage, parity);
            const int *landed = stages.tile(stage, 0);
            int *const own = out.base + (unsigned long long)tile * LEN + role.rank * PER;
            if constexpr (PER == 1) {
                const int value = neighbour_sum<LEN>(landed, landed, role.rank);
                proxy_fence();
                mbarrier_arrive(stages.empty + stage * 8);
                *own = value;
            } else {
                static_assert(PER == 4, "a consumer has one row");
                const int4 values = neighbour_sums(landed, landed, 4 * role.rank);
                proxy_fence();
                mbarrier_arrive(stages.empty + stage * 8);
                *reinterpret_cast<int4 *>(own) = values;
            }
            next();
        }
    }
    bulk_last<PRODUCERS + CONSUMERS, LEN>(
        in, [&](unsigned long long at) { out.base[at] = plus(triple(in.base[at]), bulk_next<GROUP>(in, at)); });
}
