//! What launches of products and of attention choose, and what they refuse.

use tilepipe::bf16;
use tilepipe_host::{Device, Nothing, Schedule};
use tilepipe_kernels::attention::{Attention, AttentionError, Sequences, forward, forward_packed, tiles};
use tilepipe_kernels::tensor_cores::{parts_for, tiles_and_blocks};

#[test]
fn tiles_of_products_are_chosen_by_rounds_and_width() {
    let of = |side: usize| tiles_and_blocks([side; 2], side, 132);
    assert_eq!(of(4096), [256, 128]);
    // 24 rows of 16 tiles are three rounds, and those of 12 wider tiles as many.
    assert_eq!([of(3072)[0], of(1024)[0]], [192, 64]);
    // Four rows of tiles: two rounds of 66 tiles in a row, and not three of 86.
    assert_eq!(tiles_and_blocks([512, 11008], 4096, 132), [168, 132]);
    for (rows, columns, deep) in [(1, 1, 1), (128, 256, 64), (5000, 7, 1 << 20)] {
        let [width, grid] = tiles_and_blocks([rows, columns], deep, 132);
        let tiles = rows.div_ceil(128) * columns.div_ceil(width);
        assert!(grid <= tiles.min(132) && tiles.div_ceil(grid) == tiles.div_ceil(132), "{rows} {columns} {deep}");
    }
}

#[test]
fn products_of_few_tiles_and_a_long_k_are_taken_in_parts() {
    let of = |rows: usize, columns: usize, deep: usize| parts_for([rows, columns], deep, 132);
    assert_eq!([of(128, 4096, 11008), of(128, 4096, 14336)], [4, 4]);
    // Tiles of 64 columns are one round of nearly all multiprocessors.
    assert_eq!([of(256, 4096, 11008), of(256, 4096, 14336)], [1, 1]);
    // With a short K the sums would take longer than what is saved.
    assert_eq!([of(256, 4096, 4096), of(128, 11008, 4096), of(1024, 1024, 1024)], [1, 1, 1]);
    // Tiles for all multiprocessors, or for most.
    assert_eq!([of(512, 4096, 11008), of(2048, 4096, 14336), of(4096, 4096, 4096)], [1, 1, 1]);
    assert_eq!(parts_for([1, 1], 1, 1), 1);
}

/// Queries of a tile of attention of so many heads, on an H200.
fn queries(attention: &Attention, head: usize, tokens: usize, heads: usize) -> usize {
    tiles(attention, [[tokens, heads * head]; 3], 132).unwrap()[0]
}

#[test]
fn tiles_have_as_many_queries_as_make_the_fewest_rounds_of_all_multiprocessors() {
    let of = |head: usize, tokens: usize, heads: usize| queries(&Attention::new(head), head, tokens, heads);
    // 7.8 rounds of tiles of 128 queries, and 5.2 of 192: 1024 queries, and 1152.
    assert_eq!(of(128, 8192, 16), 128);
    // Of twice as many heads 15.5 and 10.4: 2048, and 2112, which take three warpgroups less.
    assert_eq!(of(128, 8192, 32), 192);
    assert_eq!([of(128, 2048, 24), of(128, 2048, 64), of(128, 300, 4)], [192, 128, 128]);
    assert_eq!([of(64, 8192, 16), of(64, 2048, 64), of(64, 1000, 64), of(64, 1000, 8)], [192, 192, 192, 128]);
    for (head, shortest) in [(64, 257), (128, 4096)] {
        let causal = Attention::new(head).causal();
        let of = |tokens: usize| queries(&causal, head, tokens, 32);
        assert_eq!([of(shortest - 1), of(shortest)], [128, 192]);
    }
    assert_eq!(queries(&Attention::new(256).causal(), 256, 8192, 32), 128);
}

#[test]
fn windows_have_long_tiles_where_there_are_many_queries_or_keys() {
    let of = |head: usize, queries: usize, [before, behind]: [usize; 2], keys: usize| {
        let window = Attention::new(head).window(Some(before), Some(behind));
        tiles(&window, [[queries, head], [keys, head], [keys, head]], 132).unwrap()
    };
    assert_eq!([of(64, 511, [894, 0], 9000), of(64, 512, [894, 0], 9000)], [[128, 128], [192, 64]]);
    assert_eq!([of(64, 9000, [800, 95], 9000), of(64, 9000, [9000, 9000], 895)], [[192, 128], [192, 64]]);
    assert_eq!([of(128, 9000, [1534, 0], 9000), of(128, 9000, [1535, 0], 9000)], [[128, 128], [192, 80]]);
    assert_eq!([of(128, 9000, [5, 1530], 9000), of(128, 9000, [1536, 1536], 1535)], [[192, 80], [128, 128]]);
    assert_eq!([of(128, 9000, [usize::MAX; 2], 9000), of(256, 9000, [9000, 0], 9000)], [[192, 80], [128, 64]]);
}

#[test]
fn attention_of_what_does_not_fit_is_an_error_and_nothing_is_written() {
    let device = Device::cpu(Schedule::Lazy);
    let stream = device.stream().unwrap();
    let matrix = |rows: usize, columns: usize| device.zeroed_2d::<bf16>(columns, rows).unwrap();
    let (queries, keys, other) = (matrix(5, 128), matrix(7, 64), matrix(7, 192));
    let mut out = matrix(5, 128);
    let mut with = |keys, values, head| forward(&stream, &queries, keys, values, &mut out, &Attention::new(head));
    assert!(matches!(with(&keys, &keys, 12), Err(AttentionError::Head { head: 12 })));
    for (keys, values) in [(&keys, &other), (&other, &other)] {
        let error = with(keys, values, 64).unwrap_err();
        assert!(matches!(error, AttentionError::Extents { .. }), "{error}");
    }
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let attention = Attention::new(64).scale(scale);
        let error = forward(&stream, &queries, &keys, &keys, &mut matrix(5, 128), &attention).unwrap_err();
        assert!(matches!(error, AttentionError::Scale { .. }), "{error}");
    }
    let mut with = |keys, values, head| forward(&stream, &queries, keys, values, &mut out, &Attention::new(head));
    let error = with(&keys, &keys, 128).unwrap_err().to_string();
    assert!(error.contains("5 x 128 queries, 7 x 64 keys") && error.contains("heads of 128"), "{error}");
    with(&keys, &keys, 64).unwrap();
}

/// The most rows that sequences have together.
const MOST_ROWS: usize = i32::MAX as usize / 4;

#[test]
fn offsets_that_are_not_in_order_are_an_error_that_says_which() {
    let stream = Device::cpu(Schedule::Lazy).stream().unwrap();
    let sequences = |queries: &[usize], keys: &[usize]| Sequences::new(&stream, queries, keys);
    for (queries, keys, expected) in [
        (&[][..], &[][..], ("queries", 0, None)),
        (&[0], &[0], ("queries", 1, None)),
        (&[1, 3], &[0, 3], ("queries", 0, Some(1))),
        (&[0, 5, 4, 6], &[0, 1, 2, 3], ("queries", 2, Some(4))),
        (&[0, 0, 0], &[0, 1, 2], ("queries", 2, Some(0))),
        (&[0, 1, 2], &[0, 4], ("keys", 2, None)),
        (&[0, 1], &[0, 4, 5], ("keys", 2, Some(5))),
        (&[0, 1], &[0, 0], ("keys", 1, Some(0))),
        (&[0, 1], &[0, MOST_ROWS + 1], ("keys", 1, Some(MOST_ROWS + 1))),
    ] {
        let error = sequences(queries, keys).unwrap_err();
        let AttentionError::Offsets { what, at, row } = error else { panic!("{error}") };
        assert_eq!((what, at, row), expected, "{queries:?}, {keys:?}");
    }
    let error = sequences(&[0, 5, 4], &[0, 5, 9]).unwrap_err().to_string();
    assert!(error.contains("whose queries begin at these rows: number 2 is 4"), "{error}");
    let both = sequences(&[0, 0, 4], &[0, 5, 5]).unwrap();
    assert_eq!((both.queries(), both.keys()), (4, 5));
}

#[test]
fn packed_attention_of_what_does_not_fit_is_an_error_and_nothing_is_written() {
    let device = Device::cpu(Schedule::Lazy);
    let stream = device.stream().unwrap();
    let sequences = Sequences::new(&stream, &[0, 3, 5], &[0, 4, 7]).unwrap();
    let tokens = |rows: usize| device.upload_2d(&vec![bf16::from_f32(1.0); rows * 64], 64).unwrap();
    let mut out = device.zeroed_2d::<bf16>(64, 5).unwrap();
    let mut with = |queries, keys, attention: Attention| {
        let (queries, keys) = (tokens(queries), tokens(keys));
        forward_packed(&stream, &queries, &keys, &keys, &mut out, Nothing, &sequences, &attention)
    };
    let error = with(5, 8, Attention::new(64)).unwrap_err().to_string();
    assert!(error.contains("the matrix of keys has 8 x 64 elements, and should have 7 x 64"), "{error}");
    for (attention, expected) in [
        (Attention::new(64).soft_cap(3.0), "no attention of packed sequences with a cap"),
        (Attention::new(64).slopes(&[0.5]), "with slopes"),
        (Attention::new(64).sequences(5), "with sequences of one length"),
    ] {
        let error = with(5, 7, attention).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    with(5, 7, Attention::new(64)).unwrap();
    assert_eq!(out.download().unwrap(), [bf16::from_f32(1.0); 5 * 64]);
    let mut logarithms = device.zeroed_2d::<f32>(4, 1).unwrap();
    let (queries, keys) = (tokens(5), tokens(7));
    let attention = Attention::new(64);
    let error = forward_packed(&stream, &queries, &keys, &keys, &mut out, &mut logarithms, &sequences, &attention);
    assert!(matches!(error, Err(AttentionError::Matrix { what: "logarithms", .. })));
}
