//! Whether a picture's file has its end, which decoders do without.

use image::ImageFormat;

/// Whether the end of the picture is there. Of PNM files the decoder reads every byte.
pub fn is_whole(format: ImageFormat, file: &[u8]) -> bool {
    match format {
        ImageFormat::Png => has_last_chunk(file).is_some(),
        ImageFormat::Jpeg => has_end_of_image(file).is_some(),
        _ => true,
    }
}

/// Walks over the chunks of a PNG file to the end of the last one, `IEND`. A chunk is its length,
/// its name, so many bytes, and four of a check sum.
fn has_last_chunk(file: &[u8]) -> Option<()> {
    let mut rest = file.get(8..)?;
    loop {
        let length = u32::from_be_bytes(*rest.first_chunk()?) as usize;
        let (chunk, after) = rest.split_at_checked(length.checked_add(12)?)?;
        if chunk[4..8] == *b"IEND" {
            return Some(());
        }
        rest = after;
    }
}

/// Walks over the segments of a JPEG file to the marker of its end. A segment is a marker, its
/// length and so many bytes; after that of a scan there is its data, in which the byte 0xFF stands
/// before 0 or a number of a restart, and is otherwise the next marker's.
fn has_end_of_image(file: &[u8]) -> Option<()> {
    const RESTARTS: std::ops::RangeInclusive<u8> = 0xD0..=0xD7;
    let mut at = 2;
    loop {
        let skipped = file
            .get(at..)?
            .windows(2)
            .position(|two| two[0] == 0xFF && two[1] != 0 && two[1] != 0xFF && !RESTARTS.contains(&two[1]))?;
        at += skipped + 2;
        if file[at - 1] == 0xD9 {
            return Some(());
        }
        let length = u16::from_be_bytes(*file.get(at..)?.first_chunk()?);
        at += usize::from(length);
    }
}
