//! Programs that must not compile, one misuse a file under `fail/`, each beside its nearest
//! accepted neighbour of the same name under `pass/` (that of `built_kernels_*` is
//! `examples/standalone`, which has the build script that they lack). The driver is `tests/ui.rs`;
//! `docs/misuse.md` says which misuse each file stands for. After a change of a message
//! `TRYBUILD=overwrite cargo test -p tilepipe-ui-tests` writes the `.stderr` files anew; read them
//! before you keep them: a message names the rule, the place and the way out. Under `open/` are
//! programs that compile although they break a promise: assumptions of SOUNDNESS.md.
