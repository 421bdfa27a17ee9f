//! The model of bulk stores: what the copy engine still has to read from shared memory, and to
//! write to global memory.

use std::collections::VecDeque;

use super::reductions;
use crate::isa::host::Schedule;
use crate::isa::host::random::Random;
use crate::isa::{BoxShape, Corner, ElementKind, RawTensor, Reduce, swizzled};

/// Bytes of a piece of a row, which the engine reads and writes at once.
const PIECE: usize = 16;

/// 16 bytes in a row of a store.
///
/// # Invariants
///
/// 0. `from` is valid for reads of 16 bytes, and `to` for writes of as many, until the block ends;
///    only this launch writes there.
struct Piece {
    from: *const u8,
    to: *mut u8,
    /// What was read.
    read: Option<[u8; PIECE]>,
    /// How it is combined with what is there, and what an element is; `None` if it replaces that.
    how: Option<(Reduce, ElementKind)>,
    written: bool,
}

// SAFETY: the invariant holds on every OS thread; of the threads of a block's roles only the one
// with the baton accesses the arena, and the mutex that the baton is passed under orders what they
// do.
unsafe impl Send for Piece {}

impl Piece {
    fn read(&mut self) {
        if self.read.is_none() {
            let mut data = [0; PIECE];
            // SAFETY: so many bytes are readable (0), and the array has room for them.
            unsafe { self.from.copy_to_nonoverlapping(data.as_mut_ptr(), PIECE) };
            self.read = Some(data);
        }
    }

    /// Writes it, once.
    fn write(&mut self) {
        if std::mem::replace(&mut self.written, true) {
            return;
        }
        self.read();
        if let (Some(data), Some((reduce, kind))) = (self.read, self.how) {
            // SAFETY: so many bytes are writable (0), and only this launch touches them, in this
            // way.
            return unsafe { reductions::combine(self.to, &data, reduce, kind) };
        }
        if let Some(data) = self.read {
            // SAFETY: so many bytes are writable (0), and the array has as many.
            unsafe { self.to.copy_from_nonoverlapping(data.as_ptr(), PIECE) };
        }
    }
}

/// The bulk stores of a block or of one of its roles, in groups.
///
/// A piece is read, and then it is written. The lazy schedule reads it when somebody waits for
/// that, and writes it when somebody waits for that or the block ends; the eager one does both at
/// once, and the random one at any point in between.
pub(in crate::isa::host) struct Stores {
    open: Vec<Piece>,
    groups: VecDeque<Vec<Piece>>,
    /// Pieces whose reads were waited for, and which are to be written.
    read: Vec<Piece>,
}

impl Stores {
    pub(super) const fn new() -> Self {
        Stores { open: Vec::new(), groups: VecDeque::new(), read: Vec::new() }
    }

    /// Takes over those of a role at its end.
    pub(super) fn absorb(&mut self, mut role: Stores) {
        self.open.append(&mut role.open);
        self.groups.append(&mut role.groups);
        self.read.append(&mut role.read);
    }

    /// Starts to store a box that lies at `from`, swizzled, as the box of a tensor that begins at
    /// `corner`: what of it lies in the tensor, in whole pieces. The last piece of a row is
    /// written as a whole, too, as the engine does.
    ///
    /// # Safety
    ///
    /// The box's bytes at `from` are readable until the block ends, and `tensor` says where rows
    /// lie that only this launch writes, up to the next multiple of 16 bytes.
    pub(super) unsafe fn store_box(
        &mut self,
        from: *const u8,
        tensor: &RawTensor,
        corner: Corner,
        shape: BoxShape,
        how: Option<(Reduce, ElementKind)>,
    ) {
        let BoxShape { element, mask, .. } = shape;
        let columns = shape.columns();
        // Boxes begin and end at multiples of a piece.
        let lanes = PIECE as u32 / element;
        for row in 0..shape.rows() {
            let Some(line) = tensor.line(corner, shape, row) else { continue };
            for first in (0..columns).step_by(lanes as usize) {
                let x = i64::from(corner[0]) + i64::from(first);
                if !(0..i64::from(tensor.columns)).contains(&x) {
                    continue;
                }
                let offset = swizzled(((row * columns + first) * element) as usize, mask as usize);
                let to = (line + x as u64 * u64::from(element)) as *mut u8;
                self.open.push(Piece { from: from.wrapping_add(offset), to, read: None, how, written: false });
            }
        }
    }

    /// Starts to store `bytes` bytes in a row, whole pieces.
    ///
    /// # Safety
    ///
    /// They are readable at `from` until the block ends, and `to` is writable for them, which only
    /// this launch writes.
    pub(super) unsafe fn store_bulk(&mut self, from: *const u8, to: *mut u8, bytes: usize) {
        for offset in (0..bytes).step_by(PIECE) {
            let (from, to) = (from.wrapping_add(offset), to.wrapping_add(offset));
            self.open.push(Piece { from, to, read: None, how: None, written: false });
        }
    }

    /// Does what the schedule says right after a store was started.
    pub(super) fn started(&mut self, schedule: Schedule, random: &mut Random) {
        match schedule {
            Schedule::Eager => self.open.iter_mut().for_each(Piece::write),
            Schedule::Lazy => {}
            Schedule::Random { .. } => self.go_on(random),
        }
    }

    /// Reads and writes some pieces, of any group, or none.
    pub(super) fn go_on(&mut self, random: &mut Random) {
        if random.draw(4) != 0 {
            return;
        }
        let pieces = self.groups.iter_mut().flatten().chain(&mut self.open);
        let one_in = 1 + random.draw(4);
        for piece in pieces {
            match random.draw(2 * one_in) {
                0 => piece.read(),
                1 => piece.write(),
                _ => {}
            }
        }
        self.read.retain_mut(|piece| {
            let stays = random.draw(2 * one_in) != 0;
            if !stays {
                piece.write();
            }
            stays
        });
    }

    /// Closes the open group.
    pub(super) fn commit(&mut self) {
        self.groups.push_back(std::mem::take(&mut self.open));
    }

    /// Waits until all but the youngest `groups` groups were read.
    pub(super) fn wait_read(&mut self, groups: usize) {
        let older = self.groups.len().saturating_sub(groups);
        for mut piece in self.groups.drain(..older).flatten() {
            piece.read();
            self.read.push(piece);
        }
    }

    /// Waits until all groups were written.
    pub(super) fn wait_written(&mut self) {
        self.wait_read(0);
        self.read.drain(..).for_each(|mut piece| piece.write());
    }

    /// Refuses a write to memory that a store has not read yet.
    pub(super) fn check(&self, first: usize, bytes: usize) {
        let pending = |piece: &Piece| {
            piece.read.is_none() && first < piece.from.addr() + PIECE && piece.from.addr() < first + bytes
        };
        let any = self.groups.iter().flatten().chain(&self.open).any(pending);
        assert!(!any, "race: a write to shared memory that the copy engine may still be reading for a bulk store");
    }

    /// Ends the block: all stores are written, and the engine must have read their sources.
    pub(super) fn end(&mut self) {
        let unread = self.groups.iter().flatten().chain(&self.open).any(|piece| piece.read.is_none());
        assert!(
            !unread,
            "race: a block ends while the copy engine may still be reading its shared memory for a bulk store"
        );
        self.commit();
        self.wait_written();
    }
}
