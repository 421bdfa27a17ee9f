//! The seam: one function for each instruction, with two backends.
//!
//! `nvptx` lowers to the instruction, `host` models it. Nothing above this module names an instruction, an intrinsic or an
//! address space. Both backends have the same functions:
//!
//! | function | PTX | least target | who |
//! |---|---|---|---|
//! | `block_index`, `grid_blocks` | `%ctaid.x`, `%nctaid.x` | sm_80 | block |
//! | `for_each_thread` | `%tid.x` | sm_80 | block |
//! | `barrier` | `bar.sync 0` | sm_80 | block, converged |
//! | `shared_base` | the dynamic shared memory's symbol | sm_80 | block |
//! | `store_global` | `st.global` | sm_80 | thread |
//! | `cp_async` | `cp.async.cg` / `.ca.shared.global` with a source size | sm_80 | thread |
//! | `cp_async_commit_group` | `cp.async.commit_group` | sm_80 | thread |
//! | `cp_async_wait_group` | `cp.async.wait_group N` | sm_80 | thread |
//! | `cp_async_wait_all` | `cp.async.wait_all` | sm_80 | thread |
//! | `copy_through_register` | `ld.global`, `st.shared` | sm_80 | thread |
//! | `released` | nothing; the model notes who may still read | | block |
//! | `PerThread` | a register | | block |

#[cfg(not(target_arch = "nvptx64"))]
pub(crate) mod host;
#[cfg(target_arch = "nvptx64")]
mod nvptx;

#[cfg(not(target_arch = "nvptx64"))]
pub(crate) use host::*;
#[cfg(target_arch = "nvptx64")]
pub(crate) use nvptx::*;
