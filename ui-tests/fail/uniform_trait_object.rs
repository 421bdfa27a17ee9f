//! On hardware the object behind the trait is the block: some threads sync through it, the others
//! never do.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

trait Step {
    fn step(&self);
}
impl Step for Block<'_, 128> {
    fn step(&self) {
        self.sync();
    }
}

#[kernel]
fn sync_through_an_object(block: Block<128>) {
    let object: &dyn Step = &block;
    block.threads(|_| object.step());
}

fn main() {}
