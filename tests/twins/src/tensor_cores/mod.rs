//! Products by tensor cores.

mod attention;
mod gemm;
