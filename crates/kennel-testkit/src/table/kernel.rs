//! Attempts to reach dangerous parts of the kernel, by system call or by device.
//!
//! Where a success would change the machine, the call has an argument that no kernel accepts, so
//! that only the error tells whether the permission check was passed.

use crate::attempt::Argument::{BlockDevice, WritableDirectory};
use crate::attempt::{Attempt, Sysctl};

const CAPABILITY: &str = "needs a capability that ordinary users do not have";
const NO_MODULES: &str = "the kernel is built without loadable modules";
const REMOVED: &str = "the kernel no longer has this system call";
const NO_PORTS: &str = "the kernel is built without these calls";
const NO_KEXEC: &str = "the kernel is built without kexec";
const DEVICE_OF_ROOT: &str = "the device's mode keeps ordinary users out";

/// The kernel log is kept from ordinary users.
const RESTRICTED_LOG: Sysctl =
    Sysctl { file: "kernel/dmesg_restrict", refusing: (1, i64::MAX), reason: "kernel.dmesg_restrict is set" };

pub(super) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("keyctl", "asks for a keyring"),
    Attempt::new("add_key", "adds a key to its process keyring"),
    Attempt::new("request_key", "asks for a key"),
    Attempt::new("bpf", "makes a BPF map").unless(Sysctl {
        file: "kernel/unprivileged_bpf_disabled",
        refusing: (1, i64::MAX),
        reason: "kernel.unprivileged_bpf_disabled is set",
    }),
    Attempt::new("perf_event_open", "opens a performance counter").unless(Sysctl {
        file: "kernel/perf_event_paranoid",
        refusing: (3, i64::MAX),
        reason: "kernel.perf_event_paranoid keeps ordinary users out",
    }),
    Attempt::new("io_uring_setup", "makes an io_uring").unless(Sysctl {
        file: "kernel/io_uring_disabled",
        refusing: (1, i64::MAX),
        reason: "kernel.io_uring_disabled is set",
    }),
    Attempt::new("aio_context", "makes an AIO context, of which the machine has few"),
    Attempt::new("userfaultfd", "makes a userfaultfd for user mode"),
    Attempt::new("kexec_load", "passes the permission check of kexec_load").nobody(NO_KEXEC),
    Attempt::new("kexec_file_load", "passes the permission check of kexec_file_load").nobody(NO_KEXEC),
    Attempt::new("init_module", "passes the permission check of init_module").nobody(NO_MODULES),
    Attempt::new("finit_module", "passes the permission check of finit_module").nobody(NO_MODULES),
    Attempt::new("delete_module", "passes the permission check of delete_module").nobody(NO_MODULES),
    Attempt::new("iopl", "raises its I/O privilege level").nobody(NO_PORTS),
    Attempt::new("ioperm", "opens an I/O port").nobody(NO_PORTS),
    Attempt::new("swapon", "passes the permission check of swapon").only_root(CAPABILITY),
    Attempt::new("swapoff", "passes the permission check of swapoff").only_root(CAPABILITY),
    Attempt::new("reboot", "passes the permission check of reboot").only_root(CAPABILITY),
    Attempt::new("acct", "passes the permission check of acct").only_root(CAPABILITY),
    Attempt::new("quotactl", "reaches quotactl"),
    Attempt::new("settimeofday", "passes the permission check of settimeofday").only_root(CAPABILITY),
    Attempt::new("clock_adjtime", "passes the permission check of clock_adjtime").only_root(CAPABILITY),
    Attempt::new("sethostname", "passes the permission check of sethostname").only_root(CAPABILITY),
    Attempt::new("setdomainname", "passes the permission check of setdomainname").only_root(CAPABILITY),
    Attempt::new("read_kernel_log", "reads the kernel log by syslog").unless(RESTRICTED_LOG),
    Attempt::new("open_kmsg", "opens /dev/kmsg").unless(RESTRICTED_LOG),
    Attempt::new("name_to_handle", "asks for a file's handle"),
    Attempt::new("lookup_dcookie", "reaches lookup_dcookie").nobody(REMOVED),
    Attempt::new("nfsservctl", "reaches nfsservctl").nobody(REMOVED),
    Attempt::new("fanotify", "watches the file system by a privileged fanotify group").only_root(CAPABILITY),
    Attempt::new("make_block_device", "makes a block device node").needs(&[WritableDirectory]).only_root(CAPABILITY),
    Attempt::new("make_character_device", "makes a character device node")
        .needs(&[WritableDirectory])
        .only_root(CAPABILITY),
    Attempt::new("open_memory_device", "opens /dev/mem").if_exists("/dev/mem").only_root(DEVICE_OF_ROOT),
    Attempt::new("open_block_device", "opens a block device").needs(&[BlockDevice]).only_root(DEVICE_OF_ROOT),
    Attempt::new("open_kvm", "opens /dev/kvm").if_exists("/dev/kvm").only_root(DEVICE_OF_ROOT),
    Attempt::new("open_fuse", "opens /dev/fuse").if_exists("/dev/fuse").only_root(DEVICE_OF_ROOT),
    Attempt::new("open_console", "opens /dev/console for writing").if_exists("/dev/console").only_root(DEVICE_OF_ROOT),
];
