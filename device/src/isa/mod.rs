//! The seam: one function for each instruction, with two backends.
//!
//! `nvptx` lowers to the instruction, `host` models it. Nothing above this module names an
//! instruction, an intrinsic or an address space. Both backends have the same functions:
//!
//! | function | PTX | least target | who |
//! |---|---|---|---|
//! | `contract` | nothing; the builder reads it | | block |
//! | `block_index`, `grid_blocks` | `%ctaid.x`, `%nctaid.x` | sm_80 | block |
//! | `launch_dependents` | `griddepcontrol.launch_dependents` | sm_90 | thread |
//! | `opaque` | nothing; a number that the compiler knows nothing of | | thread |
//! | `opaque_here` | the same, where it is called | | thread |
//! | `rank_here` | the same of a rank | | thread |
//! | `for_each_thread`, `for_each_warp`, `for_each_lane` | `%tid.x` | sm_80 | block, block, warp |
//! | `for_first_lane` | `%tid.x` | sm_80 | warp |
//! | `for_each_member`, `for_first_member`, `divide` | `%tid.x` | sm_80 | role; block |
//! | `for_each_member_warp` | `%tid.x` | sm_80 | role of whole warps |
//! | `barrier` | `bar.sync 0` | sm_80 | block, converged |
//! | `reconverge` | `barrier.sync 0`, `bar.warp.sync` | sm_80 | block |
//! | `share_registers` | `bar.warp.sync`, `setmaxnreg` | sm_90a | warpgroups |
//! | `restore_registers` | the same behind `barrier.sync ID, N` | sm_90a | block in warpgroups |
//! | `role_barrier` | `barrier.sync ID, N` | sm_80 | role of whole warps |
//! | `warpgroup_barrier` | `barrier.sync ID, 128` | sm_80 | role of warpgroups |
//! | `for_first_of_warpgroups` | `%tid.x` | sm_80 | role of warpgroups |
//! | `warpgroup_of` | `%tid.x`, `shfl.sync.idx` | sm_80 | role of warpgroups, converged |
//! | `for_first_of_warpgroups_from` | `%tid.x`, or `shfl.sync.idx` too | sm_80 | warpgroups |
//! | `role_barrier_any` | `barrier.red.or.pred` | sm_80 | role of whole warps |
//! | `role_barrier_all` | `barrier.red.and.pred` | sm_80 | role of whole warps |
//! | `barrier_any`, `barrier_all` | `bar.red.or.pred`, `.and.pred` | sm_80 | block, converged |
//! | `warp_barrier` | `bar.warp.sync` | sm_80 | warp |
//! | `any_in_warp`, `first_in_warp` | `vote.sync.any` | sm_80 | warp |
//! | `of_first_lane` | `shfl.sync.idx` | sm_80 | warp |
//! | `Lanes`, `PerLane::of_lane` | `shfl.sync.down`, `.up`, `.idx` | sm_80 | block or warp |
//! | `PerLane::lane_across` | `shfl.sync.bfly` | sm_80 | warp |
//! | `PerLane::any`, `PerLane::all` | `vote.sync.any`, `.all` | sm_80 | warp |
//! | `own_copies_landed` | nothing; the model lands a thread's copies | | thread |
//! | `shared_base` | the dynamic shared memory's symbol | sm_80 | block |
//! | `shared_address` | its address, by an instruction | sm_80 | block |
//! | `shared_origin_here` | the same in a register of the role's own | sm_80 | role |
//! | `scratch` | the end of the dynamic shared memory, `%dynamic_smem_size` | sm_80 | block |
//! | `zeros` | a constant in global memory | sm_80 | thread |
//! | `store_shared` | `st.shared` | sm_80 | thread |
//! | `store_shared_row` | `st.shared.v4` | sm_80 | thread |
//! | `store_matrices` | `bar.warp.sync`, `stmatrix.m8n8.x4` | sm_90 | warp |
//! | `store_global`, `store_global_row` | `st.global` | sm_80 | thread |
//! | `load_input`, `load_input_row` | `ld.global.nc` (or plain: decision 96) | sm_80 | thread |
//! | `reduce_global` | `red.global` | sm_80 | thread |
//! | `reduce_shared` | `atom.shared`, whose result nobody takes | sm_80 | thread |
//! | `bins_read` | nothing; for the model | | block or role |
//! | `cp_async` | `cp.async.cg` / `.ca.shared.global` with a source size | sm_80 | thread |
//! | `cp_async_whole` | the same without a source size | sm_80 | thread |
//! | `cp_async_commit_group` | `cp.async.commit_group` | sm_80 | thread |
//! | `cp_async_wait_group` | `cp.async.wait_group N` | sm_80 | thread |
//! | `cp_async_wait_all` | `cp.async.wait_all` | sm_80 | thread |
//! | `Mbarrier`, `mbarrier_at`, `mbarrier_from` | an address in shared memory | sm_80 | thread |
//! | `mbarrier_init`, `mbarrier_inval` | `mbarrier.init`, `.inval` | sm_80 | thread |
//! | `mbarrier_arrive`, `mbarrier_arrive_first` | `mbarrier.arrive` | sm_80 | role |
//! | `mbarrier_arrive_for` | `mbarrier.arrive` with a count | sm_90 | thread |
//! | `cp_async_mbarrier_arrive` | `cp.async.mbarrier.arrive.noinc` | sm_80 | role |
//! | `mbarrier_expect_tx` | `mbarrier.expect_tx` | sm_90 | thread |
//! | `mbarrier_arrive_expect_tx` | `mbarrier.arrive.expect_tx` | sm_90 | thread |
//! | `bulk_copy` | `cp.async.bulk.shared::cluster.global` | sm_90 | thread |
//! | `bulk_store` | `cp.async.bulk.global.shared::cta` | sm_90 | thread |
//! | `tensor_copy` | `cp.async.bulk.tensor.2d.shared::cluster.global` | sm_90 | thread |
//! | `tensor_store` | `cp.async.bulk.tensor.2d.global.shared::cta` | sm_90 | thread |
//! | `tensor_reduce` | `cp.reduce.async.bulk.tensor.2d.global.shared::cta` | sm_90 | thread |
//! | `bulk_commit_group` | `cp.async.bulk.commit_group` | sm_90 | thread |
//! | `bulk_wait_group_read` | `cp.async.bulk.wait_group.read N` | sm_90 | thread |
//! | `bulk_wait_all` | `cp.async.bulk.wait_group 0` | sm_90 | thread |
//! | `bulk_zeros` | a constant in global memory | sm_80 | thread |
//! | `fence_proxy_async` | `fence.proxy.async.shared::cta` | sm_90 | thread |
//! | `fence_mbarrier_init` | `fence.mbarrier_init.release.cluster` | sm_90 | thread |
//! | `mbarrier_wait` | `mbarrier.try_wait.parity` in a loop; sm_80: `.test_wait` | sm_80 | thread |
//! | `mbarrier_wait_briefly` | the same with a suspend time hint of 20 ns | sm_90 | thread |
//! | `mbarrier_wait_unless` | `mbarrier.try_wait`, `atom.or`, `vote.sync` | sm_90 | role |
//! | `mark_phase`, `is_marked` | `atom.exch.shared`, `atom.or.shared` | sm_80 | thread |
//! | `mbarrier_poll` | `mbarrier.test_wait.parity`; if it fails `nanosleep` | sm_80 | thread |
//! | `Operands`, `Operands::new` | `shfl.sync.idx` | sm_90a | warpgroups |
//! | `Operands::of_stages` | the same, once for all stages | sm_90a | warpgroups |
//! | `LeftRows`, `LeftRows::new` | the same, once for several products | sm_90a | warpgroups |
//! | `Operands::of_rows` | no instruction | sm_90a | warpgroups |
//! | `Sums`, `Sums::new` | registers | | warpgroups |
//! | `Sums::multiply` | `wgmma.fence`, `.mma_async`, `.commit_group` | sm_90a | warpgroups |
//! | `Sums::wait` | `wgmma.wait_group N` | sm_90a | warpgroups |
//! | `Sums::get` | a register | | thread |
//! | `fence_products` | `wgmma.fence` | sm_90a | warpgroups |
//! | `Sums::start`, `Sums::start_by` | `wgmma.mma_async`, `.commit_group` | sm_90a | warpgroups |
//! | `Sums::hold`, `Fragment`, `Fragment::hold` | registers | | warpgroups |
//! | `Sums::fill`, `Sums::update`, `Sums::rounded` | registers | | warpgroups |
//! | `Sums::scale` | `vote.sync.any`, `mul` | sm_80 | warpgroups |
//! | `PerThread::of_quads` | `shfl.sync.bfly` | sm_80 | warps |
//! | `exp2_approximate` | `ex2.approx.ftz.f32` | sm_80 | thread |
//! | `reciprocal_approximate` | `rcp.approx.ftz.f32` | sm_80 | thread |
//! | `mbarrier_arrive_warps` | `bar.warp.sync`, `mbarrier.arrive` | sm_80 | warps |
//! | `Turns::init` | `mbarrier.init` | sm_90 | one thread |
//! | `Turns`, `Turns::of` | `shfl.sync.idx` | sm_90 | warpgroups |
//! | `Turns::wait`, `Turns::wait_a_while` | `mbarrier.try_wait.parity` | sm_90 | warpgroups |
//! | `Turns::pass` | `bar.warp.sync`, `mbarrier.arrive` | sm_90 | warpgroups |
//! | `Rooms`, `Rooms::new` | `mbarrier.init` | sm_90 | warpgroups |
//! | `Rooms::wait` | `mbarrier.try_wait.parity` in a loop | sm_90 | warpgroups |
//! | `Rooms::arrive` | `bar.warp.sync`, `mbarrier.arrive` | sm_90 | warpgroups |
//! | `mbarrier_name`, `stage_acquired` | nothing; for the model | | role |
//! | `stage_read`, `stage_multiplied` | nothing; for the model | | role |
//! | `clock` | `%globaltimer` | sm_80 | thread |
//! | `copy_through_register` | `ld.global`, `st.shared` | sm_80 | thread |
//! | `permute_bytes` | `prmt.b32` | sm_80 | thread |
//! | `fma_f32`, `fma_f64` | `fma.rn` | sm_80 | thread |
//! | `sqrt_f32`, `sqrt_f64` | `sqrt.rn` | sm_80 | thread |
//! | `min_f32`, `min_f64`, `max_f32`, `max_f64` | `min`, `max` | sm_80 | thread |
//! | `floor_f32`, `floor_f64` | `cvt.rmi` | sm_80 | thread |
//! | `trunc_f32`, `trunc_f64` | `cvt.rzi` | sm_80 | thread |
//! | `nearest_f32`, `nearest_f64` | `cvt.rni` | sm_80 | thread |
//! | `rounded_bf16`, `rounded_f16` | `cvt.rn.bf16x2.f32`, `cvt.rn.f16x2.f32` | sm_80 | thread |
//! | `widened_f16` | `cvt.f32.f16` | sm_80 | thread |
//! | `released` | nothing; the model notes who may still read | | block |
//! | `PerThread`, `PerLane` | a register | | block, warp |
//!
//! Some functions exist on the GPU alone: its panic handler has no counterpart on the host, and on
//! the host the read from global memory is part of `copy_through_register`.
//!
//! | function of `nvptx` alone | PTX | least target | who |
//! |---|---|---|---|
//! | `thread_rank` | `%tid.x` | sm_80 | thread |
//! | `load_global` | `ld.global` | sm_80 | thread |
//! | `panic_record_address` | a variable that the host sets | sm_80 | thread |
//! | `claim` | `atom.sys.cas` | sm_80 | thread |
//! | `system_fence` | `fence.sc.sys` | sm_80 | thread |
//! | `sleep` | `nanosleep` | sm_80 | thread |
//! | `trap` | `trap` | sm_80 | thread |
//! | `exit` | `exit` | sm_80 | thread |
//!
//! # Safety contracts
//!
//! The caller of an unsafe function keeps the contract below, whichever backend it is compiled
//! with; a backend may rely on less. On the CPU one OS thread makes a call for all threads of a
//! block or a role. A barrier is one of the block, of a role or of a warp, or an mbarrier. An
//! mbarrier is valid from its `mbarrier_init` to its `mbarrier_inval`.
//!
//! ## `for_each_thread`
//!
//! The block has `threads` threads in one dimension.
//!
//! ## `for_each_warp`
//!
//! The block has `threads` threads in one dimension, a multiple of 32.
//!
//! ## `for_each_member`
//!
//! The calling thread is one of `members`.
//!
//! ## `for_each_member_warp`
//!
//! The calling thread is one of `members`, which are whole warps.
//!
//! ## `divide`
//!
//! 0. All threads of the block make this call, and after it that of `reconverge`.
//! 1. What the bodies capture and return has no cells and nothing that is bound to an OS thread: on
//!    the CPU each body runs on a thread of its own.
//! 2. What a body captures is the same in every thread (`Uniform`), or was handed to this one role.
//! 3. If a role's warpgroups run their body apart, its members are warpgroups, the body may run as
//!    often as there are of them, from copies of what it captures, and what it returns has no size.
//!
//! ## `barrier`, `barrier_any`, `barrier_all`
//!
//! All threads of the block make this call, in converged code.
//!
//! ## `reconverge`
//!
//! The block has `THREADS` threads in one dimension, and all of them make this call. They need not
//! be converged.
//!
//! ## `share_registers`, `restore_registers`
//!
//! 0. All threads of a role make this call, which is whole warpgroups of the block. They have
//!    `from` registers each; `to` is a multiple of 8 from 24 to 256.
//! 1. All threads of the block make a call of `share_registers` at the start of their roles, from
//!    the number that the launch gives a thread, and one of `restore_registers` at their ends, back
//!    to it. Between them the block has no more registers than before. It has `threads` threads.
//!
//! ## `role_barrier`, `role_barrier_any`, `role_barrier_all`
//!
//! 0. All `members`, which are whole warps, make this call, and no other threads do.
//! 1. `id` is 1 to 15 and no other role's.
//!
//! ## `warpgroup_barrier`, `for_first_of_warpgroups`, `warpgroup_of`
//!
//! All `members`, warpgroups of the block, make this call; of those that run apart one of them.
//!
//! ## `for_first_of_warpgroups_from`
//!
//! 0. As for `for_first_of_warpgroups`.
//! 1. `from` is the block's shared memory, and the same in all threads of a warp. `number`, if
//!    there is one, is what `warpgroup_of` returned for these `members`.
//!
//! ## `warp_barrier`
//!
//! All 32 threads of the warp make this call. They need not be converged.
//!
//! ## `any_in_warp`, `first_in_warp`, `of_first_lane`
//!
//! All 32 threads of the warp make this call. They need not be converged. On the CPU it says what
//! all of them say.
//!
//! ## `Lanes::lane_above`, `Lanes::lane_below`
//!
//! All threads of the group that the values are of make this call, converged: a block with the
//! number of threads that the type says, a role of that many threads in whole warps, or a warp.
//!
//! ## `PerLane::lane_across`
//!
//! All 32 lanes of the warp make this call, and `bits` is below 32.
//!
//! ## `PerLane::of_lane`, `PerLane::any`, `PerLane::all`
//!
//! All 32 lanes of the warp make this call.
//!
//! ## `PerThread::new`, `PerThread::update`
//!
//! This is block-level code of a block of `THREADS` in one dimension, all of whose threads make the
//! call.
//!
//! ## `PerThread::of_warps`
//!
//! As for `PerThread::new`, with a multiple of 32 threads.
//!
//! ## `PerThread::of_members`, `PerThread::update_members`
//!
//! This is code of a role, or of a whole block, of these `members`, `THREADS` in all.
//!
//! ## `store_shared`
//!
//! `to` is shared memory, aligned and valid for a `T`, which no other thread accesses before the
//! calling one arrives at a barrier.
//!
//! ## `store_shared_row`
//!
//! `N` values have 16 bytes. `to` is shared memory, aligned to 16 and valid for them, which no
//! other thread accesses before the calling one arrives at a barrier.
//!
//! ## `store_matrices`
//!
//! 0. All lanes of the warp make this call. They need not be converged.
//! 1. Row `r` of matrix `m` is the 16 bytes from `row` of lane `8 * m + r` on: shared memory that
//!    is aligned to 16, and that no other warp accesses before these threads arrive at a barrier.
//! 2. Lane `l`'s `own[m]` is the place of two elements of row `l / 4` of matrix `m`, from column
//!    `2 * (l % 4)` on.
//!
//! ## `store_global`
//!
//! `to` is global memory, aligned and valid for writes of a `T`.
//!
//! ## `store_global_row`
//!
//! 0. `to` is global memory, valid for writes of `N` values. It is aligned to the largest power of
//!    two, up to 16, that divides the row's size.
//! 1. A `T` is aligned to at most 16, as elements of tiles are. (So the row is aligned for a `T`.)
//!
//! ## `load_global`
//!
//! `from` is global memory, aligned and valid for reads of a `T`.
//!
//! ## `load_input`
//!
//! `from` is global memory, aligned and valid for reads of a `T`, which nobody writes during the
//! launch.
//!
//! ## `load_input_row`
//!
//! 0. `width` is 1, 2, 4, 8 or 16, and divides the size of `N` values. `from` is global memory,
//!    aligned to `width` and valid for reads of them; nobody writes them during the launch.
//! 1. `from` is aligned for a `T`.
//!
//! ## `reduce_global`
//!
//! 0. `to` is global memory, aligned and valid for reads and writes of a `T`, which this launch
//!    accesses by this function alone.
//! 1. `kind` is that of `T`: an integer or a float of 32 or 64 bits, or an `f16`. Of floats there
//!    is the sum alone.
//!
//! ## `reduce_shared`
//!
//! 0. `bins` is the block's shared memory, aligned and valid for reads and writes of `len` values
//!    `T`, and initialised. `index` is below `len`.
//! 1. From the last barrier of all threads that access these values to their next one nobody
//!    accesses them but by this function.
//! 2. `kind` is as for `reduce_global`.
//!
//! ## `cp_async`, `cp_async_whole`
//!
//! 0. `width` is 16, 8 or 4.
//! 1. `to` is the block's shared memory, aligned to `width` and valid for that many bytes; nobody
//!    accesses them until the copy has landed.
//! 2. `from` is global memory, aligned to `width` and valid for reads of `valid <= width` bytes
//!    until the block ends. The whole copy reads `width` bytes.
//!
//! ## `copy_through_register`
//!
//! 0. `to` is the block's shared memory, aligned and valid for a `T`. Other threads access it only
//!    after the next barrier, and the calling thread only after that or `own_copies_landed`.
//! 1. If `valid`, `from` is global memory, aligned and valid for reads of a `T` until the block
//!    ends.
//!
//! ## `mbarrier_init`
//!
//! 0. `barrier` is the block's shared memory, aligned to 8 and valid for 8 bytes, and holds no
//!    valid mbarrier. Until it is invalidated, nobody accesses these bytes but as an mbarrier.
//! 1. Other threads use it only after a barrier of the block.
//! 2. One thread makes this call.
//!
//! ## `mbarrier_inval`
//!
//! 0. `barrier` is valid, and no thread uses it from here on; no arrival is in flight.
//! 1. One thread makes this call.
//!
//! ## `mbarrier_arrive`, `cp_async_mbarrier_arrive`
//!
//! 0. `barrier` is valid, and its phase in progress counts an arrival of each member that has not
//!    happened yet.
//! 1. All members make this call.
//!
//! ## `mbarrier_arrive_first`
//!
//! As for `mbarrier_arrive`, with one arrival in all, that of the first member.
//!
//! ## `mbarrier_arrive_for`
//!
//! As for `mbarrier_arrive`, with so many arrivals, of threads that make none themselves.
//!
//! ## `mbarrier_arrive_warps`
//!
//! As for `mbarrier_arrive`, with an arrival for each warp of members, which are whole warps: that
//! of its first thread, behind a barrier of the warp.
//!
//! ## `Turns::init`, `Turns::of`, `Turns::wait`, `Turns::wait_a_while`, `Turns::pass`
//!
//! 0. One thread of the block calls `init`, with the number of warpgroups of `members`, which are
//!    whole warpgroups and make the other calls. There is a barrier of all of them between `init`
//!    and the first wait. Of each value a wait and `pass` alternate.
//! 1. From `offset` on there are 8 bytes of the block's shared memory for each warpgroup, aligned
//!    to 8, which these calls alone access from `init` on.
//! 2. With `wait` all warpgroups make the same calls in the same order: else one may wait for ever.
//!    With `wait_a_while` they need not.
//!
//! ## `Rooms::new`, `Rooms::wait`, `Rooms::arrive`
//!
//! 0. All `members`, which are whole warpgroups, make these calls, in the same order, with a
//!    barrier of the role between `new` and the first of the others.
//! 1. From `offset` on there are 8 bytes of the block's shared memory for each of `count` barriers,
//!    aligned to 8, which these calls alone access from `new` on.
//! 2. `barrier` is below `count` and `parity` 0 or 1. No warp arrives for a phase before it knows
//!    that the phase before is complete, or waits for one that is not the last or the next.
//!
//! ## `Operands::new`, `Operands::of_stages`, `LeftRows::new`, `Operands::of_rows`
//!
//! 0. All `members`, which are warpgroups, make this call, converged.
//! 1. Both operands lie in shared memory and start at whole periods of their swizzle, which is that
//!    of their rows' bytes, and so do their panels. The first has 64 rows for each warpgroup; both
//!    have as many elements along K, a multiple of 16. (`LeftRows` are the first.)
//! 2. The rows that `Operands::of_rows` takes were made by the same `members`.
//!
//! ## `Sums::multiply`
//!
//! 0. All members that the operands are of, and the sums, make this call, converged.
//! 1. The operands of the stage that begins `further` times 16 bytes behind the first one, a
//!    multiple of the swizzles' periods, have landed by bulk copies, for which each of the members
//!    has waited. The second has as many rows as the sums have columns. The elements are of the
//!    kind of `factor`.
//! 2. Nobody writes them before each of the members has waited for the product.
//! 3. Until then the sums are neither read nor written nor moved, but by products and waits.
//!
//! ## `Sums::start`, `Sums::start_by`
//!
//! As for `Sums::multiply`, with a `further` of 0, and behind a `fence_products` that follows every
//! other use of the sums and of a factor in registers. If the product is added, the sums have
//! values. A `Fragment` has as many elements along K as the second operand, and is as the sums are
//! until the wait: neither written nor moved.
//!
//! ## `Sums::wait`, `fence_products`
//!
//! All members that the sums are of make this call, converged.
//!
//! ## `Sums::hold`, `Fragment::hold`, `Sums::fill`
//!
//! The calling threads' own, of which no product is under way. `Sums::hold` is also for those of
//! the product that was just waited for.
//!
//! ## `Sums::update`, `Sums::scale`, `Sums::rounded`
//!
//! As for `Sums::get`, of all registers and all members, which make this call converged.
//!
//! ## `PerThread::of_quads`
//!
//! The values are of a block or a role of whole warps, all of which make this call, converged.
//!
//! ## `Sums::get`
//!
//! A product was started, and all of them were waited for; the register is one of
//! `W::COLUMNS / 2`, and the calling thread has this rank in its group.
//!
//! ## `mbarrier_expect_tx`, `mbarrier_arrive_expect_tx`
//!
//! `barrier` is valid, its phase in progress counts an arrival of the calling thread that has not
//! happened yet, and the bytes that it expects are 2^20 - 1 at most.
//!
//! ## `bulk_copy`
//!
//! 0. `bytes` is a multiple of 16.
//! 1. `to` is the block's shared memory, aligned to 16 and valid for that many bytes. Nobody
//!    accesses them until the copy has landed. All accesses before, of whatever thread, were
//!    followed by that thread's `fence_proxy_async` and a barrier, or were bulk copies that have
//!    landed.
//! 2. `from` is global memory, aligned to 16 and valid for reads of `bytes` bytes until the block
//!    ends.
//! 3. `barrier` is valid. Its phase in progress does not end before an arrival of the calling
//!    thread that follows, and the thread announces these bytes before that arrival or with it. The
//!    block does not end before the phase.
//!
//! ## `bulk_store`
//!
//! 0. `bytes` is a multiple of 16 and not 0. `to` is global memory, aligned to 16 and valid for
//!    writes of that many bytes, which nobody else touches until the block ends.
//! 1. `from` is the block's shared memory, aligned to 16, valid for that many bytes, and
//!    initialised. What `tensor_store` asks of the source holds.
//!
//! ## `tensor_copy`
//!
//! 0. `map` is the address of a tensor in the kernel's parameters, whose map is of boxes of this
//!    shape, and which nobody writes during the launch.
//! 1. `to` is the block's shared memory, valid for the bytes of the box, and aligned to a period of
//!    its swizzle. What `bulk_copy` asks of the destination holds.
//! 2. `barrier` is as `bulk_copy` asks, for all bytes of the box.
//! 3. The column that the box begins at is a multiple of 16 bytes, and may be negative.
//!
//! ## `tensor_store`
//!
//! 0. `map` is as `tensor_copy` asks, of a tensor that only this launch writes, with what lies
//!    behind each of its rows up to a multiple of 16 bytes.
//! 1. `from` is the block's shared memory, valid for the bytes of the box, aligned to a period of
//!    its swizzle, and initialised. All writes to it before, of whatever thread, were followed by
//!    that thread's `fence_proxy_async` and a barrier, or were bulk copies that the calling thread
//!    has waited for.
//! 2. Nobody writes those bytes until the calling thread has committed the store and waited for the
//!    reads of its group; the block does not end before that.
//! 3. The box begins at a column that is a multiple of 16 bytes, and in no dimension before the
//!    tensor. It may begin behind it, where nothing is stored.
//!
//! ## `tensor_reduce`
//!
//! 0. As for `tensor_store`, of a tensor that only this launch touches, and it only by this
//!    function.
//! 1. The map was encoded for elements of this kind, of which the engine has the operation.
//!
//! ## `stage_read`
//!
//! The calling role has the stage of `bytes` bytes from `first` on, and reads it until it arrives
//! at `barrier`.
//!
//! ## `stage_multiplied`
//!
//! The calling role has the stage of `bytes` bytes from `first` on, and nothing but products of it
//! reads the stage until it arrives at `barrier`.
//!
//! ## `mbarrier_wait`, `mbarrier_wait_briefly`, `mbarrier_poll`
//!
//! `barrier` is valid, and `parity` is 0 or 1.
//!
//! ## `mbarrier_wait_unless`, `mark_phase`, `is_marked`
//!
//! 0. The phase's barrier is valid, and its parity 0 or 1. Its word is the block's shared memory,
//!    aligned and valid for a `u32`, initialised before a barrier of the block, and accessed by
//!    these functions alone until a barrier of the block behind the last of these calls. Its
//!    stage's number is below 2^30.
//! 1. A phase is marked once in a word's life, by one thread of those that arrive there, none of
//!    which arrives in that phase or in a later one as long as anyone may wait for it.
//! 2. All `members` wait. In a whole warp a thread that has its answer goes on alone, and no thread
//!    acts for others of the warp before a barrier of it.
//!
//! ## `stage_acquired`
//!
//! The calling role has the stage of `bytes` bytes from `first` on: nobody else reads or writes
//! them until it is passed on.
//!
//! ## `released`
//!
//! 0. The `bytes` bytes from `first` on are a stage of the block's shared memory that was just
//!    released.
//! 1. Until the readers' next barrier nobody writes them, and after it nobody reads what they hold
//!    now.
//!
//! ## `claim`
//!
//! `state` is valid for atomic access.

use core::num::NonZeroU32;

/// Which barrier ends the reads of a released tile.
#[cfg_attr(target_arch = "nvptx64", allow(dead_code))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers {
    /// The block's.
    Block,
    /// The warp's.
    Warp,
}

/// Threads of a block at equal distances: those of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Members {
    /// The rank of the first in the block.
    pub(crate) first: usize,
    /// The distance from one to the next: 1, or 2 for every other thread.
    pub(crate) stride: usize,
    /// The number of threads.
    pub(crate) count: usize,
}

impl Members {
    /// The first thread of any block.
    pub(crate) const FIRST: Self = Members { first: 0, stride: 1, count: 1 };

    /// Whether they are whole warps of the block.
    pub(crate) const fn are_whole_warps(self) -> bool {
        self.stride == 1 && self.first.is_multiple_of(WARP) && self.count.is_multiple_of(WARP)
    }
}

/// What a role runs.
pub(crate) struct Part<F> {
    /// The role's threads.
    pub(crate) members: Members,
    /// Whether each of its warpgroups runs the body for itself.
    #[cfg_attr(target_arch = "nvptx64", expect(dead_code, reason = "there each thread runs for itself"))]
    pub(crate) apart: bool,
    /// What they run.
    pub(crate) body: F,
}

/// Threads of a warp.
pub(crate) const WARP: usize = 32;

/// The warps that a block can have. Each has a slot of its own in [`scratch`]; the slots of the
/// results lie after those.
pub(crate) const WARPS: usize = 32;
/// The roles that a block can have. Their barriers have the numbers from 1 on; 0 is the block's.
pub(crate) const ROLES: usize = 4;
/// The barrier at which all roles meet, each in its own code.
#[cfg(target_arch = "nvptx64")]
pub(crate) const ROLES_BARRIER: u32 = ROLES as u32 + 1;
/// Bytes of all slots: one per warp, one for the block's result, and two per role, of which one is
/// for the result of a collective and one for the role's own use.
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) const SCRATCH_BYTES: usize = 16 * (WARPS + 1 + 2 * ROLES);

/// Bytes of zeros at [`bulk_zeros`].
pub(crate) const BULK_ZEROS: usize = 1024;

/// The largest alignment in bytes that a block's shared memory has by its declaration.
pub(crate) const SHARED_ALIGNMENT: usize = 1024;

/// A phase of an mbarrier, and the word by which those who arrive there say that it does not come.
#[derive(Clone, Copy)]
pub(crate) struct Phase {
    /// The mbarrier.
    pub(crate) barrier: Mbarrier,
    /// The phase's parity: 0 or 1.
    pub(crate) parity: u32,
    /// The word.
    pub(crate) word: *mut u32,
    /// Where it lies: the offset into the block's dynamic shared memory.
    #[cfg_attr(not(target_arch = "nvptx64"), expect(dead_code, reason = "an instruction of the GPU takes it"))]
    pub(crate) place: u32,
    /// The number of the stage that is handed over there.
    pub(crate) stage: u32,
}

impl Phase {
    /// What is in the word if this phase is the first that does not come. Zero says that all phases
    /// come.
    #[inline(always)]
    pub(crate) fn mark(self) -> u32 {
        2 * self.stage + self.parity + 1
    }
}

/// The address at which the block's dynamic shared memory begins, in a register of a role's own,
/// with its lowest bit set ([`shared_origin_here`]). `None`: a constant of the kernel.
pub(crate) type SharedOrigin = Option<NonZeroU32>;

/// A contract as [`contract`] takes it. Its parts are constants, which the builder can read in
/// unoptimised code.
pub(crate) trait ContractText {
    /// The first byte.
    const FIRST: *const u8;
    /// The number of bytes.
    const BYTES: usize;
}

/// How many of a thread's youngest committed groups may still be in flight after a wait.
pub trait PendingGroups {
    /// The number of groups.
    const GROUPS: usize;
}

/// One value per lane: of one warp, or of all warps of a block at once.
pub(crate) trait Lanes<T> {
    /// The same values.
    fn duplicate(&self) -> Self;
    /// `shfl.sync.down`: each lane gets the value of the lane `distance` above it, its own if there
    /// is none.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    unsafe fn lane_above(&self, distance: usize) -> Self;
    /// `shfl.sync.up`: each lane gets the value of the lane `distance` below it, its own if there
    /// is none.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    unsafe fn lane_below(&self, distance: usize) -> Self;
    /// Updates each value, given the rank of its thread in the block, the role or the warp. Modulo
    /// 32 that rank is the lane.
    fn update_ranks(&mut self, update: impl Fn(usize, &mut T));
    /// The value of the calling thread, which has this rank.
    fn of_rank(&self, rank: usize) -> T;
}

pub(crate) mod product;
mod tensor;

pub(crate) use tensor::{
    BoxShape, Corner, DIMENSIONS, Reduce, ReduceAdd, ReduceAnd, ReduceMax, ReduceMin, ReduceOr, ReduceXor, swizzled,
};
pub use tensor::{ElementKind, RawRows, RawTensor, ReduceCode};

#[cfg(not(target_arch = "nvptx64"))]
pub(crate) mod host;
#[cfg(target_arch = "nvptx64")]
mod nvptx;

#[cfg(not(target_arch = "nvptx64"))]
pub(crate) use host::*;
#[cfg(target_arch = "nvptx64")]
pub(crate) use nvptx::*;
