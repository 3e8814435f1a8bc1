//! Opening a database: its schema, and what becomes of files that cannot be used. Its folder is that of
//! `programs::search::folder`, or the one that a command names.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::*;

/// "MDHT", by which SQLite knows whose file it is.
const APPLICATION: i32 = 0x4d44_4854;
/// The schema's version. A change of the schema is a new one, with a step in `update`.
const VERSION: i32 = 1;

const SCHEMA: &str = "
CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    machine TEXT NOT NULL,
    program TEXT NOT NULL,
    sizes TEXT NOT NULL,
    technique TEXT NOT NULL,
    seed INTEGER NOT NULL,
    started REAL NOT NULL,
    ended REAL,
    stop TEXT
) STRICT;
CREATE INDEX session_task ON session (program, machine, sizes);
CREATE TABLE evaluation (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session (id),
    number INTEGER NOT NULL,
    configuration TEXT NOT NULL,
    cost REAL,
    samples TEXT,
    complete INTEGER,
    failure TEXT,
    message TEXT,
    technique TEXT NOT NULL,
    at REAL NOT NULL,
    time REAL NOT NULL,
    CHECK ((cost IS NULL) <> (failure IS NULL))
) STRICT;
CREATE INDEX evaluation_session ON evaluation (session);
";

/// A file that could not be used and was renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// Its new name.
    pub path: PathBuf,
    /// Reason.
    pub why: Unusable,
}

/// Reason for which a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// It is damaged; SQLite's words.
    Damaged(String),
    /// It is of a newer mdh, with this version of the schema.
    Newer(i32),
    /// It is a database of another program.
    Foreign,
}

impl Unusable {
    fn suffix(&self) -> String {
        match self {
            Unusable::Damaged(_) => "damaged".to_string(),
            Unusable::Newer(version) => format!("version-{version}"),
            Unusable::Foreign => "foreign".to_string(),
        }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unusable::Damaged(why) => write!(f, "it is damaged: {why}"),
            Unusable::Newer(version) => write!(
                f,
                "it is of a newer mdh: found version {version}, expected at most {VERSION}"
            ),
            Unusable::Foreign => write!(f, "it is a database of another program"),
        }
    }
}

impl fmt::Display for SetAside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the database was renamed to {}: {}",
            self.path.display(),
            self.why
        )
    }
}

/// Opens or makes the database of a folder.
pub(super) fn for_writing(folder: &Path) -> Result<Database> {
    let path = folder.join(FILE);
    fs::create_dir_all(folder).map_err(|error| cannot("make", folder, &error))?;
    let lock_path = folder.join("tuner.lock");
    let lock = File::options().create(true).append(true).open(&lock_path);
    let lock = lock.map_err(|error| cannot("write", &lock_path, &error))?;
    lock.lock()
        .map_err(|error| cannot("lock", &lock_path, &error))?;
    let mut set_aside = None;
    let connection = match connect(&path)? {
        Ok(connection) => connection,
        Err(why) => {
            set_aside = Some(rename(&path, why)?);
            connect(&path)?
                .map_err(|why| Error::bug(format!("the new database {}: {why}", path.display())))?
        }
    };
    Ok(Database {
        connection,
        path,
        set_aside,
    })
}

/// Opens the database of a folder for queries.
pub(super) fn for_reading(folder: &Path) -> Result<Option<Database>> {
    let path = folder.join(FILE);
    match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot("read", &path, &error)),
        // Just made by another process, which has not come to its schema.
        Ok(data) if data.len() == 0 => return Ok(None),
        Ok(_) => {}
    }
    roll_back(&path);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&path, flags);
    let connection = connection.map_err(|error| failed(&path, error))?;
    connection
        .busy_timeout(PATIENCE)
        .map_err(|error| failed(&path, error))?;
    let state = examine(&connection).or_else(|error| damage(&path, error).map(State::Unusable))?;
    match state {
        State::Empty => Ok(None),
        State::Usable => Ok(Some(Database {
            connection,
            path,
            set_aside: None,
        })),
        State::Unusable(why) => Err(Error::input(format!(
            "the database {} cannot be used: {why}",
            path.display()
        ))
        .help("`mdh tune` with this folder renames it and begins a new one")),
    }
}

/// Takes back what a process has left half done that was killed. A connection that only reads
/// cannot; where nothing may be written, it says so.
fn roll_back(path: &Path) {
    if path.with_file_name(format!("{FILE}-journal")).exists() {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let _ = Connection::open_with_flags(path, flags).and_then(|connection| {
            connection.busy_timeout(PATIENCE)?;
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
        });
    }
}

/// State of a file.
enum State {
    Empty,
    Usable,
    Unusable(Unusable),
}

/// Connects for writing; the inner error is about the file, the outer one about the system.
fn connect(path: &Path) -> Result<std::result::Result<Connection, Unusable>> {
    let opened = Connection::open(path).and_then(|connection| {
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        let state = examine(&connection)?;
        if let State::Empty = state {
            connection.execute_batch(&format!(
                "BEGIN IMMEDIATE; {SCHEMA} PRAGMA application_id = {APPLICATION}; \
                 PRAGMA user_version = {VERSION}; COMMIT"
            ))?;
        }
        Ok((connection, state))
    });
    match opened {
        Ok((_, State::Unusable(why))) => Ok(Err(why)),
        Ok((connection, _)) => Ok(Ok(connection)),
        Err(error) => Ok(Err(damage(path, error)?)),
    }
}

/// Tells what a file is.
fn examine(connection: &Connection) -> rusqlite::Result<State> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let (application, version) = (number("application_id")?, number("user_version")?);
    if tables == 0 && application == 0 {
        return Ok(State::Empty);
    }
    if application != APPLICATION {
        return Ok(State::Unusable(Unusable::Foreign));
    }
    if version > VERSION {
        return Ok(State::Unusable(Unusable::Newer(version)));
    }
    let check: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    let damage = match check == "ok" {
        true => missing(connection)?,
        false => Some(check),
    };
    Ok(damage.map_or(State::Usable, |why| State::Unusable(Unusable::Damaged(why))))
}

/// A column of a table, and its type.
struct Column {
    table: String,
    name: String,
    kind: String,
}

/// The columns of all tables.
fn columns(connection: &Connection) -> rusqlite::Result<Vec<Column>> {
    let query = "SELECT tables.name, columns.name, columns.type FROM sqlite_schema AS tables \
         JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'";
    let mut statement = connection.prepare(query)?;
    let rows = statement.query_map([], |row| {
        Ok(Column {
            table: row.get(0)?,
            name: row.get(1)?,
            kind: row.get(2)?,
        })
    })?;
    rows.collect()
}

/// The first part of the schema that a file lacks: a table or a column, or the type of one.
fn missing(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let wanted = Connection::open_in_memory()?;
    wanted.execute_batch(SCHEMA)?;
    let present = columns(connection)?;
    let lacks = |wanted: Column| {
        let Column { table, name, kind } = wanted;
        let mut of_table = present
            .iter()
            .filter(|column| column.table == table)
            .peekable();
        if of_table.peek().is_none() {
            return Some(format!("it has no table '{table}'"));
        }
        match of_table.find(|column| column.name == name) {
            None => Some(format!("its table '{table}' has no column '{name}'")),
            Some(column) if column.kind != kind => Some(format!(
                "the column '{name}' of its table '{table}' has the type {}, expected {kind}",
                column.kind
            )),
            Some(_) => None,
        }
    };
    Ok(columns(&wanted)?.into_iter().find_map(lacks))
}

/// The damage of a file that SQLite's error tells of; other errors are passed on.
fn damage(path: &Path, error: rusqlite::Error) -> Result<Unusable> {
    use rusqlite::ErrorCode;
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Ok(Unusable::Damaged(error.to_string()))
        }
        _ => Err(failed(path, error)),
    }
}

/// Renames a file, and the journal that belongs to it, to a name that is free.
fn rename(path: &Path, why: Unusable) -> Result<SetAside> {
    let name = |number: u32, end: &str| {
        let suffix = why.suffix();
        path.with_file_name(format!("{FILE}.{suffix}-{number}{end}"))
    };
    let free = (1..u32::MAX)
        .find(|number| !name(*number, "").exists())
        .unwrap_or(u32::MAX);
    let to = name(free, "");
    fs::rename(path, &to).map_err(|error| cannot("rename", path, &error))?;
    for end in ["-journal", "-wal", "-shm"] {
        let beside = path.with_file_name(format!("{FILE}{end}"));
        if beside.exists() {
            let renamed = fs::rename(&beside, name(free, end));
            renamed.map_err(|error| cannot("rename", &beside, &error))?;
        }
    }
    Ok(SetAside { path: to, why })
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> Error {
    let help = match error.kind() {
        io::ErrorKind::StorageFull => "make space on its disk",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "give the right to write there, or another folder"
        }
        _ => "give another folder",
    };
    Error::resources(format!("cannot {what} {}: {error}", path.display())).help(help)
}
