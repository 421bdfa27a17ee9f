//! Which values the closures of several roles may capture.

/// A value that the closures of several roles may share.
///
/// What a role's closure captures must be [`Uniform`](crate::Uniform) and `RoleShared`. Output
/// tiles are denied: thread `r` of every role would own the same elements. Values that each thread
/// of the block has one of are denied too, because ranks in a role differ from ranks in the block.
/// It is an auto trait: types made of shared parts are shared.
///
/// # Safety
///
/// An implementation promises that nothing can be written through a shared reference to the type,
/// not even with a thread's token; or only by commutative updates of memory that nobody can read
/// while a shared reference exists.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be captured by the closure of a role",
    label = "captured here, but every role could capture it",
    note = "thread 0 of one role and thread 0 of another would write the same element, or read a value that is another thread's: a data race",
    note = "hand an output view to the one role that writes it: `.role(&mut out, |group, end, out| out.for_role(&group) ..)`; values of one a \
            thread stay in their role (`Kept`) or are combined at block level"
)]
pub unsafe auto trait RoleShared {}
