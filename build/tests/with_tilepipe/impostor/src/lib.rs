//! A crate with tilepipe's name and a path of its.
#![no_std]
#![feature(asm_experimental_arch)]

pub mod isa {
    /// The calling thread's rank.
    #[inline]
    pub fn thread_rank() -> u32 {
        let rank: u32;
        unsafe { core::arch::asm!("mov.u32 {rank}, %tid.x;", rank = out(reg32) rank, options(pure, nomem, nostack)) };
        rank
    }
}
