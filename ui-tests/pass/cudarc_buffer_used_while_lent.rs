//! The accepted neighbour of `fail/cudarc_buffer_used_while_lent.rs`.
#![forbid(unsafe_code)]
use std::error::Error;
use std::sync::Arc;

use tilepipe_host::Buffer;
use tilepipe_host::cudarc::driver::CudaStream;

fn refill(out: &mut Buffer<i32>, theirs: &Arc<CudaStream>) -> Result<Vec<i32>, Box<dyn Error>> {
    let before = out.download()?;
    let mut lent = out.lend_mut(theirs)?;
    theirs.memcpy_htod(&[1], &mut lent)?;
    Ok(before)
}

fn main() {}
