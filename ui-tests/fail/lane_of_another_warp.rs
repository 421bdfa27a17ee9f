//! On hardware a lane of this warp has no register of the other one to read.
#![forbid(unsafe_code)]
use tilepipe::{PerLane, Warp};

fn read_another<'v, 'w, 'b>(this: &Warp<'v, 'b, 128>, values: &PerLane<'w, u32>) {
    let _ = this.map(|lane| values.get(&lane));
}

fn main() {}
