//! Products by tensor cores.

mod gemm;
