//! A crate with tilepipe's name and a path of its.
#![no_std]
#![feature(stdarch_nvptx)]

pub mod isa {
    /// The calling thread's rank.
    #[inline]
    pub fn thread_rank() -> u32 {
        unsafe { core::arch::nvptx::_thread_idx_x() as u32 }
    }
}
