//! Owns how JSON is laid out for people: by its bytes, so that order, numbers and strings stay as they were spelled.

/// A valid JSON value over several lines, two blanks for each level.
pub(crate) fn pretty(json: &[u8]) -> String {
    let mut written = Vec::with_capacity(json.len() * 2);
    let (mut level, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in json.iter().copied() {
        if in_string {
            written.push(byte);
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {}
            b'{' | b'[' => {
                level += 1;
                written.push(byte);
                new_line(level, &mut written);
            }
            b'}' | b']' => {
                level = level.saturating_sub(1);
                // What was opened last has nothing in it: it stays on its line.
                let end = written.trim_ascii_end().len();
                if matches!(written.get(end.wrapping_sub(1)), Some(b'{' | b'[')) {
                    written.truncate(end);
                } else {
                    new_line(level, &mut written);
                }
                written.push(byte);
            }
            b',' => {
                written.push(byte);
                new_line(level, &mut written);
            }
            b':' => written.extend_from_slice(b": "),
            b'"' => {
                in_string = true;
                written.push(byte);
            }
            _ => written.push(byte),
        }
    }
    String::from_utf8_lossy(&written).into_owned()
}

fn new_line(level: usize, written: &mut Vec<u8>) {
    written.push(b'\n');
    written.resize(written.len() + 2 * level, b' ');
}

#[cfg(test)]
#[path = "pretty_tests.rs"]
mod tests;
