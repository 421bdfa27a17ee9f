//! Loops that are none in a kernel's code.

/// Calls `body` with 0, 1, .., `N - 1`, each a constant where it is called. So what `body` indexes
/// with it stays in registers: LLVM takes an array apart before it unrolls loops.
///
/// `N` is at most 64, or it does not compile.
#[inline(always)]
pub(crate) fn unrolled<const N: usize>(mut body: impl FnMut(usize)) {
    const { assert!(N <= 64, "a thread's part of a matrix product has at most 64 rows, and as many runs of 4 elements") };
    macro_rules! calls {
        ($($n:literal)*) => { $(if $n < N { body($n); })* };
    }
    calls! {
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_below_the_bound_is_passed_once_in_order() {
        fn passed<const N: usize>() -> Vec<usize> {
            let mut passed = Vec::new();
            unrolled::<N>(|n| passed.push(n));
            passed
        }
        assert_eq!(passed::<0>(), []);
        assert_eq!(passed::<5>(), [0, 1, 2, 3, 4]);
        assert_eq!(passed::<64>(), Vec::from_iter(0..64));
    }
}
