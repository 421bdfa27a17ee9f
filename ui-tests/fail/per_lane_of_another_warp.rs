//! On hardware these lanes' registers are another warp's: no instruction reads them.
#![forbid(unsafe_code)]
use tilepipe::Warp;

fn sum_of_another<'v, 'w, 'b>(this: &Warp<'v, 'b, 128>, other: &Warp<'w, 'b, 128>) -> u32 {
    let ranks = other.map(|lane| lane.rank() as u32);
    this.reduce(&ranks, |a, b| a + b)
}

fn main() {}
