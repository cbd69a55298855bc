use super::*;

/// Runs a filter as the kernel does.
pub(crate) fn run(program: &[Instruction], architecture: u32, number: u32, arguments: &[u64]) -> u32 {
    let mut data = [0_u8; 64];
    data[..4].copy_from_slice(&number.to_le_bytes());
    data[4..8].copy_from_slice(&architecture.to_le_bytes());
    for (index, argument) in arguments.iter().enumerate() {
        data[16 + 8 * index..24 + 8 * index].copy_from_slice(&argument.to_le_bytes());
    }
    let (mut counter, mut loaded) = (0, 0);
    loop {
        let Instruction { code, jt, jf, k } = program[counter];
        let code = u32::from(code);
        counter += 1;
        let hit = match code & 0x07 {
            libc::BPF_LD => {
                let at = k as usize;
                loaded = u32::from_le_bytes(data[at..at + 4].try_into().unwrap());
                continue;
            }
            libc::BPF_RET => return k,
            _ => match code & 0xf0 {
                libc::BPF_JEQ => loaded == k,
                libc::BPF_JGE => loaded >= k,
                libc::BPF_JSET => loaded & k != 0,
                other => panic!("unknown jump {other:#x}"),
            },
        };
        counter += usize::from(if hit { jt } else { jf });
    }
}
