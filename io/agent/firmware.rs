//! Installation of firmware: an image is fetched in pieces, checked, and handed to a command of the owner.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use groundwave_files::hex::hex;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::finished::{Finished, FollowUp};

/// Bytes of one request.
const PIECE_BYTES: u64 = 256 << 10;
/// Largest image, bytes.
const IMAGE_BYTES_MAX: u64 = 512 << 20;
/// Longest version, characters.
const VERSION_CHARS_MAX: usize = 64;
/// Longest run of the install command, in steps of [`STEP`].
const STEPS_MAX: u32 = 18_000;
const STEP: Duration = Duration::from_millis(100);
/// Longest part of the command's output that is reported, bytes.
const OUTPUT_BYTES_MAX: u64 = 4 << 10;

/// Command of the owner that installs images: called with the file of an image and its version.
#[derive(Debug, Clone)]
pub struct Installer {
    command: PathBuf,
    version_file: PathBuf,
    folder: PathBuf,
}

impl Installer {
    /// The command `command` of a machine that states its version in the first line of `version_file`;
    /// images are fetched into `folder`, which is made if it is missing.
    ///
    /// # Errors
    /// The reason why images cannot be installed.
    pub fn probe(command: &Path, version_file: &Path, folder: &Path) -> Result<Self, String> {
        let error = |path: &Path, err: &dyn std::fmt::Display| format!("{}: {err}", path.display());
        let metadata = fs::metadata(command).map_err(|err| error(command, &err))?;
        if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
            return Err(error(command, &"not an executable file"));
        }
        let result = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        result.map_err(|err| error(folder, &err))?;
        // As a path, so that it is not looked up among programs, nor in another folder later.
        let command = fs::canonicalize(command).map_err(|err| error(command, &err))?;
        let installer =
            Self { command, version_file: version_file.to_owned(), folder: folder.to_owned() };
        match installer.version() {
            Some(_) => Ok(installer),
            None => Err(error(
                version_file,
                &format!("found no version, allowed a line of 1 to {VERSION_CHARS_MAX} characters"),
            )),
        }
    }

    /// Version that the machine runs.
    #[must_use]
    pub fn version(&self) -> Option<String> {
        let text = fs::read_to_string(&self.version_file).ok()?;
        let version = text.lines().next()?.trim().to_owned();
        (1..=VERSION_CHARS_MAX).contains(&version.chars().count()).then_some(version)
    }

    /// Runs the command; its output. Blocks.
    fn install(&self, image: &Path, version: &str) -> Result<String, String> {
        let error = |err: std::io::Error| format!("{}: {err}", self.command.display());
        let log = self.folder.join("install.log");
        let output = File::create(&log).map_err(error)?;
        let mut child = Command::new(&self.command)
            .arg(image)
            .arg(version)
            .stdin(Stdio::null())
            .stdout(output.try_clone().map_err(error)?)
            .stderr(output)
            .spawn()
            .map_err(error)?;
        for _ in 0..STEPS_MAX {
            if let Some(status) = child.try_wait().map_err(error)? {
                let message = tail(&log);
                return match status.success() {
                    true => Ok(message),
                    false => Err(format!("{status}: {message}")),
                };
            }
            std::thread::sleep(STEP);
        }
        let _ = child.kill();
        let _ = child.wait();
        Err(format!("stopped after {} s", STEPS_MAX / 10))
    }
}

/// End of a text file.
fn tail(path: &Path) -> String {
    let read = || {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(OUTPUT_BYTES_MAX)))?;
        let mut bytes = Vec::new();
        file.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&bytes).trim().to_owned())
    };
    read().unwrap_or_default()
}

/// An image that is being fetched.
#[derive(Debug)]
struct Download {
    command_id: Uuid,
    image_id: Uuid,
    version: String,
    sha256: String,
    size_bytes: u64,
    path: PathBuf,
    file: File,
    held_bytes: u64,
}

impl Download {
    fn begin(
        folder: &Path,
        command_id: Uuid,
        args: &BTreeMap<String, String>,
    ) -> Result<Self, String> {
        let arg = |key: &str| {
            let value = args.get(key).cloned();
            value.ok_or_else(|| format!("missing {key}"))
        };
        let bad = |key: &str| format!("invalid {key}");
        let image_id = Uuid::try_parse(&arg("image_id")?).map_err(|_| bad("image_id"))?;
        let version = arg("version")?;
        let fits = |one: char| !one.is_control();
        if !(1..=VERSION_CHARS_MAX).contains(&version.chars().count()) || !version.chars().all(fits)
        {
            return Err(bad("version"));
        }
        let sha256 = arg("sha256")?;
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if sha256.len() != 64 || !sha256.bytes().all(is_hex) {
            return Err(bad("sha256"));
        }
        let size_bytes = arg("size_bytes")?
            .parse::<u64>()
            .ok()
            .filter(|bytes| (1..=IMAGE_BYTES_MAX).contains(bytes))
            .ok_or_else(|| bad("size_bytes"))?;
        let path = folder.join(format!("{sha256}.part"));
        let error = |err: std::io::Error| format!("{}: {err}", path.display());
        // Of other images nothing is needed any more.
        for entry in fs::read_dir(folder).map_err(error)?.flatten() {
            let other = entry.path();
            if other != path && other.extension().is_some_and(|end| end == "part" || end == "image")
            {
                let _ = fs::remove_file(other);
            }
        }
        let opened = OpenOptions::new().create(true).append(true).open(&path);
        let file = opened.map_err(error)?;
        // Goes on where an earlier process stopped.
        let mut held_bytes = file.metadata().map_err(error)?.len();
        if held_bytes > size_bytes {
            file.set_len(0).map_err(error)?;
            held_bytes = 0;
        }
        Ok(Self { command_id, image_id, version, sha256, size_bytes, file, held_bytes, path })
    }

    /// The image in full, if its digest is the announced one.
    fn finish(self) -> Result<(PathBuf, String), String> {
        let error = |err: std::io::Error| format!("{}: {err}", self.path.display());
        self.file.sync_all().map_err(error)?;
        let mut digest = Sha256::new();
        let mut file = File::open(&self.path).map_err(error)?;
        let mut piece = vec![0; PIECE_BYTES as usize];
        loop {
            match file.read(&mut piece).map_err(error)? {
                0 => break,
                count => digest.update(&piece[..count]),
            }
        }
        let digest = hex(&digest.finalize());
        if digest != self.sha256 {
            let _ = fs::remove_file(&self.path);
            return Err(format!("wrong digest: found SHA-256 {digest}"));
        }
        let whole = self.path.with_extension("image");
        fs::rename(&self.path, &whole).map_err(error)?;
        Ok((whole, self.version))
    }
}

#[derive(Debug)]
enum Job {
    Download(Download),
    Install(Uuid, JoinHandle<Result<String, String>>),
}

/// Installation of images that the gateway commands.
#[derive(Debug)]
pub struct Firmware {
    installer: Installer,
    job: Option<Job>,
}

impl Firmware {
    /// Installation by a command of the owner.
    #[must_use]
    pub fn new(installer: Installer) -> Self {
        Self { installer, job: None }
    }

    /// Version that the machine runs.
    #[must_use]
    pub fn version(&self) -> Option<String> {
        self.installer.version()
    }

    /// Begins the installation of a command; the outcome, where there is one at once.
    pub fn begin(&mut self, command_id: Uuid, args: &BTreeMap<String, String>) -> Option<Finished> {
        if self.job.is_some() {
            let why = "another installation goes on".to_owned();
            return Some(finished(command_id, Err(why)));
        }
        match Download::begin(&self.installer.folder, command_id, args) {
            Ok(download) if self.version().as_ref() == Some(&download.version) => {
                let message = format!("version {} is installed", download.version);
                Some(finished(command_id, Ok(message)))
            }
            // An earlier process may have fetched all of it.
            Ok(download) => self.go_on(download),
            Err(why) => Some(finished(command_id, Err(why))),
        }
    }

    /// Fetches the rest of an image, or starts the command where nothing is missing; the outcome, where
    /// there is one at once.
    fn go_on(&mut self, download: Download) -> Option<Finished> {
        if download.held_bytes < download.size_bytes {
            self.job = Some(Job::Download(download));
            return None;
        }
        let id = download.command_id;
        match download.finish() {
            Ok((image, version)) => {
                let installer = self.installer.clone();
                let run = move || installer.install(&image, &version);
                self.job = Some(Job::Install(id, std::thread::spawn(run)));
                None
            }
            Err(why) => Some(finished(id, Err(why))),
        }
    }

    /// Image and bytes of it that are needed next.
    #[must_use]
    pub fn wanted(&self) -> Option<(Uuid, Range<u64>)> {
        match &self.job {
            Some(Job::Download(download)) => {
                let end = download.size_bytes.min(download.held_bytes + PIECE_BYTES);
                Some((download.image_id, download.held_bytes..end))
            }
            _ => None,
        }
    }

    /// Takes the bytes that were wanted; with the last ones the command is started. The outcome, where
    /// there is one at once.
    pub fn take(&mut self, bytes: &[u8]) -> Option<Finished> {
        let Some(Job::Download(mut download)) = self.job.take() else {
            return None;
        };
        let id = download.command_id;
        if let Err(err) = download.file.write_all(bytes) {
            return Some(finished(id, Err(format!("{}: {err}", download.path.display()))));
        }
        download.held_bytes += bytes.len() as u64;
        self.go_on(download)
    }

    /// Gives a download up, as the gateway has no such image.
    pub fn give_up(&mut self, why: &str) -> Option<Finished> {
        match self.job.take() {
            Some(Job::Download(download)) => {
                Some(finished(download.command_id, Err(why.to_owned())))
            }
            other => {
                self.job = other;
                None
            }
        }
    }

    /// Outcome of the install command, once it has ended.
    pub fn ended(&mut self) -> Option<Finished> {
        match self.job.take() {
            Some(Job::Install(id, thread)) if thread.is_finished() => {
                let outcome = thread.join();
                Some(finished(id, outcome.unwrap_or_else(|_| Err("interrupted".to_owned()))))
            }
            other => {
                self.job = other;
                None
            }
        }
    }
}

fn finished(command_id: Uuid, outcome: Result<String, String>) -> Finished {
    let (done, output) = match outcome {
        Ok(output) => (true, output),
        Err(why) => (false, why),
    };
    Finished { command_id, done, output, follow_up: FollowUp::Nothing }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine of version 1 whose command writes the version, or fails for version 3.
    fn machine(folder: &Path) -> Firmware {
        let command = folder.join("install");
        let script = "#!/bin/sh\n[ \"$2\" = 3 ] && { echo broken image >&2; exit 4; }\n\
                      cp \"$1\" \"${0%/*}/installed\" && echo \"$2\" > \"${0%/*}/version\"\n";
        fs::write(&command, script).unwrap();
        fs::set_permissions(&command, fs::Permissions::from_mode(0o755)).unwrap();
        let version = folder.join("version");
        fs::write(&version, "1\n").unwrap();
        let installer = Installer::probe(&command, &version, &folder.join("images"));
        Firmware::new(installer.unwrap())
    }

    fn args(image: &[u8], version: &str) -> BTreeMap<String, String> {
        let pairs = [
            ("image_id", Uuid::from_u128(1).to_string()),
            ("version", version.to_owned()),
            ("sha256", hex(&Sha256::digest(image))),
            ("size_bytes", image.len().to_string()),
        ];
        pairs.map(|(key, value)| (key.to_owned(), value)).into()
    }

    /// Fetches the wanted ranges of `image`, and waits for the command.
    fn serve(firmware: &mut Firmware, image: &[u8]) -> Finished {
        while let Some((_, range)) = firmware.wanted() {
            let piece = &image[range.start as usize..range.end as usize];
            if let Some(finished) = firmware.take(piece) {
                return finished;
            }
        }
        loop {
            if let Some(finished) = firmware.ended() {
                return finished;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn an_image_is_fetched_checked_and_installed() {
        let folder = tempfile::tempdir().unwrap();
        let mut firmware = machine(folder.path());
        assert_eq!(firmware.version().as_deref(), Some("1"));
        let image: Vec<u8> = (0..600_000_u32).map(|at| at as u8).collect();
        let id = Uuid::from_u128(9);
        assert_eq!(firmware.begin(id, &args(&image, "2")), None);
        assert_eq!(firmware.wanted().unwrap().1, 0..262_144);
        assert!(!firmware.begin(id, &args(&image, "2")).unwrap().done);
        let done = serve(&mut firmware, &image);
        assert!(done.done, "{done:?}");
        assert_eq!(firmware.version().as_deref(), Some("2"));
        assert_eq!(fs::read(folder.path().join("installed")).unwrap(), image);
        // Not twice.
        assert!(firmware.begin(id, &args(&image, "2")).unwrap().done);
    }

    #[test]
    fn a_restarted_agent_goes_on_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let mut firmware = machine(folder.path());
        let image = vec![7; 300_000];
        assert_eq!(firmware.begin(Uuid::nil(), &args(&image, "2")), None);
        assert_eq!(firmware.take(&image[..262_144]), None);
        let mut firmware = machine(folder.path());
        assert_eq!(firmware.begin(Uuid::nil(), &args(&image, "2")), None);
        assert_eq!(firmware.wanted().unwrap().1, 262_144..300_000);
        assert!(serve(&mut firmware, &image).done);
    }

    #[test]
    fn an_image_fetched_whole_before_a_restart_is_installed() {
        let folder = tempfile::tempdir().unwrap();
        let image = vec![7; 300_000];
        machine(folder.path());
        // Killed before the image had its name.
        let part = format!("images/{}.part", hex(&Sha256::digest(&image)));
        fs::write(folder.path().join(part), &image).unwrap();
        let mut firmware = machine(folder.path());
        assert_eq!(firmware.begin(Uuid::nil(), &args(&image, "2")), None);
        assert_eq!(firmware.wanted(), None, "an empty range was requested for ever");
        assert!(serve(&mut firmware, &image).done);
    }

    #[test]
    fn a_wrong_image_or_a_failing_command_installs_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut firmware = machine(folder.path());
        let image = vec![7; 1_000];
        assert_eq!(firmware.begin(Uuid::nil(), &args(&image, "2")), None);
        let wrong = serve(&mut firmware, &[8; 1_000]);
        assert!(!wrong.done && wrong.output.contains("wrong digest"), "{wrong:?}");
        assert_eq!(firmware.begin(Uuid::nil(), &args(&image, "3")), None);
        let failed = serve(&mut firmware, &image);
        assert!(!failed.done && failed.output.contains("broken image"), "{failed:?}");
        assert_eq!(firmware.begin(Uuid::nil(), &args(&image, "2")), None);
        assert!(!firmware.give_up("404").unwrap().done && firmware.wanted().is_none());
        for (key, value) in
            [("sha256", "../x"), ("size_bytes", "0"), ("image_id", "x"), ("version", "")]
        {
            let mut bad = args(&image, "2");
            bad.insert(key.to_owned(), value.to_owned());
            let outcome = firmware.begin(Uuid::nil(), &bad).unwrap();
            assert!(!outcome.done && outcome.output.contains(key), "{outcome:?}");
        }
        assert_eq!(firmware.version().as_deref(), Some("1"));
        let absent = Installer::probe(Path::new("/nowhere"), Path::new("/nowhere"), folder.path());
        assert!(absent.unwrap_err().contains("/nowhere"));
    }
}
