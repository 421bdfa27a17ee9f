//! On hardware memory would be given back twice: by `finish`, and by the function that made the
//! pipeline.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, Shared, Stages, kernel};

#[kernel]
fn finish_inside(block: Block<128>, shared: Shared<Stages<[i32; 128], 2, Bulk>>) {
    let _ = shared.with_pipeline(&block, |pipe| {
        let _ = pipe.finish();
    });
}

fn main() {}
