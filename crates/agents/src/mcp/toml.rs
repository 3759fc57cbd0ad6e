//! Changing one table of TOML text, and leaving the rest byte by byte.

use serde_json::{Map, Value};
use toml_edit::{Array, Decor, DocumentMut, InlineTable, Item, Table, TableLike};

/// The most lines whose ends are looked after one by one.
const MOST_LINES: usize = 4000;

/// Reads what a text holds.
pub(super) fn read(text: &str) -> Result<Map<String, Value>, String> {
    Ok(object(parse(text)?.as_table()))
}

/// Puts the servers under the key.
pub(super) fn edit(text: &str, key: &str, servers: &Map<String, Value>) -> Result<String, String> {
    if !text.contains("\r\n") {
        return edit_lines(text, key, servers);
    }
    if text.lines().count() > MOST_LINES {
        return Err(format!("it has more than {MOST_LINES} lines and ends of lines of Windows"));
    }
    // The document is written with plain newlines, and each line gets back the end that it had.
    let edited = edit_lines(&text.replace("\r\n", "\n"), key, servers)?;
    Ok(with_line_ends_of(text, &edited))
}

/// Gives the lines of an edited text, which has plain newlines, the line ends of the text it was made from. A line that
/// is new gets the end of the line before it.
fn with_line_ends_of(text: &str, edited: &str) -> String {
    let known: Vec<(&str, &str)> = text
        .split_inclusive('\n')
        .map(|line| match line.strip_suffix("\r\n") {
            Some(bare) => (bare, "\r\n"),
            None => (line.strip_suffix('\n').unwrap_or(line), "\n"),
        })
        .collect();
    let old: Vec<&str> = known.iter().map(|(bare, _)| *bare).collect();
    let new: Vec<&str> =
        edited.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line)).collect();
    let mut end = known.first().map_or("\n", |line| line.1);
    let mut made = String::with_capacity(text.len());
    for ((line, place), written) in new.iter().zip(places(&old, &new)).zip(edited.split_inclusive('\n')) {
        end = place.map_or(end, |place| known[place].1);
        made.push_str(line);
        if written.ends_with('\n') {
            made.push_str(end);
        }
    }
    made
}

/// Finds for each new line the old one that it is: the longest sequence of lines that both have.
fn places(old: &[&str], new: &[&str]) -> Vec<Option<usize>> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let (middle, changed) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut places: Vec<Option<usize>> = (0..head).map(Some).collect();
    // How much two lists have in common from here on; settings are short.
    let width = changed.len() + 1;
    let mut common = vec![0_u32; (middle.len() + 1) * width];
    for a in (0..middle.len()).rev() {
        for b in (0..changed.len()).rev() {
            common[a * width + b] = match middle[a] == changed[b] {
                true => common[(a + 1) * width + b + 1] + 1,
                false => common[(a + 1) * width + b].max(common[a * width + b + 1]),
            };
        }
    }
    let mut a = 0;
    for b in 0..changed.len() {
        while a < middle.len()
            && middle[a] != changed[b]
            && common[(a + 1) * width + b] >= common[a * width + b + 1]
        {
            a += 1;
        }
        let same = a < middle.len() && middle[a] == changed[b];
        places.push(same.then_some(head + a));
        a += usize::from(same);
    }
    places.extend((old.len() - tail..old.len()).map(Some));
    places
}

fn edit_lines(text: &str, key: &str, servers: &Map<String, Value>) -> Result<String, String> {
    let document = parse(text)?;
    let known = |name: &str| document.get(key).and_then(|table| table.get(name)).is_some();
    let (stay, new): (Map<_, _>, Map<_, _>) = servers.clone().into_iter().partition(|(name, _)| known(name));
    // New servers come behind everything else, so that nothing has to move for them.
    let mut appended = laid(document.clone(), key, &stay)?;
    if !new.is_empty() {
        if !appended.is_empty() && !appended.ends_with('\n') {
            appended.push('\n');
        }
        appended.push_str(&laid(DocumentMut::new(), key, &new)?);
    }
    match read(&appended).is_ok_and(|read| read.get(key).and_then(Value::as_object) == Some(servers)) {
        true => Ok(appended),
        // A table that is written in one piece takes its servers in there only.
        false => laid(document, key, servers),
    }
}

/// Writes a document with these servers under the key.
fn laid(mut document: DocumentMut, key: &str, servers: &Map<String, Value>) -> Result<String, String> {
    if servers.is_empty() && document.get(key).is_none() {
        return Ok(document.to_string());
    }
    let below = document.entry(key).or_insert_with(|| {
        let mut table = Table::new();
        // Its own header would be an empty line in the file: each server has one.
        table.set_implicit(true);
        Item::Table(table)
    });
    let table = below.as_table_like_mut().ok_or_else(|| format!("`{key}` is no table"))?;
    let mut comments = Vec::new();
    lay(table, servers, key, &mut comments)?;
    // From the last to the first, as each is put above what was put there before.
    comments.sort_by_key(|(position, _)| position.unwrap_or(isize::MAX));
    for (position, text) in comments.into_iter().rev() {
        put_back(&mut document, position, &text);
    }
    Ok(document.to_string())
}

/// What stood above something that has gone, and where among the tables that was. A comment there may well be about
/// what comes before it, so that it stays.
type Comment = (Option<isize>, String);

fn comment(decor: &Decor) -> Option<String> {
    let text = decor.prefix()?.as_str()?;
    text.contains('#').then(|| text.to_string())
}

/// Puts a comment above the table that comes next, or at the end.
fn put_back(document: &mut DocumentMut, position: Option<isize>, text: &str) {
    let mut positions = Vec::new();
    each_table(document.as_table_mut(), &mut |table| positions.extend(table.position()));
    let next = position.and_then(|gone| positions.into_iter().filter(|known| *known > gone).min());
    let Some(next) = next else {
        let after = document.trailing().as_str().unwrap_or_default().to_string();
        document.set_trailing(format!("{text}{after}"));
        return;
    };
    each_table(document.as_table_mut(), &mut |table| {
        if table.position() == Some(next) {
            let before = table.decor().prefix().and_then(|raw| raw.as_str()).unwrap_or_default();
            let both = format!("{text}{before}");
            table.decor_mut().set_prefix(both);
        }
    });
}

/// Calls `each` with every table below one that has a header of its own.
fn each_table(table: &mut Table, each: &mut dyn FnMut(&mut Table)) {
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(inner) => {
                if !inner.is_implicit() && !inner.is_dotted() {
                    each(inner);
                }
                each_table(inner, each);
            }
            Item::ArrayOfTables(tables) => {
                for inner in tables.iter_mut() {
                    each(inner);
                    each_table(inner, each);
                }
            }
            Item::None | Item::Value(_) => {}
        }
    }
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        // The text may hold secrets, so only the place is told.
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or(text);
        format!("it is not TOML (line {})", before.matches('\n').count() + 1)
    })
}

/// Makes a table equal to what is wanted, touching only what differs.
fn lay(
    table: &mut dyn TableLike,
    wanted: &Map<String, Value>,
    at: &str,
    comments: &mut Vec<Comment>,
) -> Result<(), String> {
    let keys: Vec<String> = table.iter().map(|(key, _)| key.to_string()).collect();
    let mut above = String::new();
    for key in &keys {
        if !wanted.contains_key(key) {
            match table.get(key) {
                Some(Item::Table(gone)) => {
                    comments.extend(comment(gone.decor()).map(|text| (gone.position(), text)));
                }
                _ => above.extend(table.key(key).and_then(|key| comment(key.leaf_decor()))),
            }
            table.remove(key);
        } else if !above.is_empty()
            && table.get(key).is_some_and(Item::is_value)
            && let Some(mut next) = table.key_mut(key)
        {
            let decor = next.leaf_decor_mut();
            let before = decor.prefix().and_then(|raw| raw.as_str()).unwrap_or_default().to_string();
            decor.set_prefix(format!("{}{before}", std::mem::take(&mut above)));
        }
    }
    comments.extend(Some(above).filter(|above| !above.is_empty()).map(|above| (None, above)));
    for (key, value) in wanted {
        let at = format!("{at}.{key}");
        let Some(known) = table.get_mut(key) else {
            table.insert(key, item(value, &at)?);
            continue;
        };
        if json(known) == *value {
            continue;
        }
        if let (Some(inner), Value::Object(wanted)) = (known.as_table_like_mut(), value) {
            lay(inner, wanted, &at, comments)?;
            continue;
        }
        let mut new = item(value, &at)?;
        // What stands behind a value, such as a comment, stays there.
        if let (Some(old), Some(new)) = (known.as_value(), new.as_value_mut()) {
            *new.decor_mut() = old.decor().clone();
        }
        *known = new;
    }
    Ok(())
}

fn item(value: &Value, at: &str) -> Result<Item, String> {
    let Value::Object(map) = value else { return Ok(Item::Value(toml(value, at)?)) };
    let mut table = Table::new();
    for (key, value) in map {
        table.insert(key, item(value, &format!("{at}.{key}"))?);
    }
    Ok(Item::Table(table))
}

fn toml(value: &Value, at: &str) -> Result<toml_edit::Value, String> {
    Ok(match value {
        Value::Null => return Err(format!("`{at}` is null, which TOML cannot hold; leave the key out")),
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => integer.into(),
            (None, Some(float)) if number.is_f64() => float.into(),
            _ => return Err(format!("`{at}` is larger than any number TOML can hold")),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => {
            let items = items.iter().map(|value| toml(value, at));
            toml_edit::Value::Array(items.collect::<Result<Array, String>>()?)
        }
        Value::Object(map) => {
            let mut table = InlineTable::new();
            for (key, value) in map {
                table.insert(key, toml(value, &format!("{at}.{key}"))?);
            }
            toml_edit::Value::InlineTable(table)
        }
    })
}

fn object(table: &dyn TableLike) -> Map<String, Value> {
    table.iter().map(|(key, item)| (key.to_string(), json(item))).collect()
}

/// Writes an item as JSON. Dates become texts; a text that comes back the same leaves the date alone.
fn json(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => json_value(value),
        Item::Table(table) => Value::Object(object(table)),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| Value::Object(object(table))).collect(),
    }
}

fn json_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Float(number) => (*number.value()).into(),
        toml_edit::Value::Boolean(flag) => (*flag.value()).into(),
        toml_edit::Value::Datetime(date) => date.value().to_string().into(),
        toml_edit::Value::Array(items) => items.iter().map(json_value).collect(),
        toml_edit::Value::InlineTable(table) => Value::Object(object(table)),
    }
}
