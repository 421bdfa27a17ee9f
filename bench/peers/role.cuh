// How the block's threads are divided into producers and consumers.
#pragma once

#include "view.cuh"

// Threads of each role, and elements of the tiles that the producers pass on: one for each
// consumer.
constexpr unsigned ROLE = TILE / 2;

enum class Roles {
    EVEN_ODD, // even threads produce, odd threads consume: both roles are in every warp
    WARPS,    // the first half of the block's warps produce, the others consume
};

// This thread's role, and its rank among the threads that have it.
template <Roles ROLES> struct Role {
    bool producer;
    unsigned rank;

    __device__ __forceinline__ Role() {
        if constexpr (ROLES == Roles::EVEN_ODD) {
            producer = threadIdx.x % 2 == 0;
            rank = threadIdx.x / 2;
        } else {
            producer = threadIdx.x < ROLE;
            rank = threadIdx.x % ROLE;
        }
    }
};
