//! Nasty settings files, made up: whatever stands around the MCP servers stays byte for byte, in JSON and in TOML.
//!
//! A file is put together from pieces, and every comment in it is unique, so that each piece that must survive can be
//! looked for in what comes out, in order.

use forge_agents::mcp_file;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// White space and comments as people leave them. `~` in a comment becomes a number of its own.
fn gap() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec!["// ü ~ 漢字, \"a\": {\n", "// ~\r\n", "/* ~ } , */", "/*~\n*/\n"]);
    let space = prop::sample::select(vec!["", " ", "\n", "\t", "\r\n  ", "\n\n   "]);
    (space.clone(), prop::option::weighted(0.4, line), space)
        .prop_map(|(before, comment, after)| format!("{before}{}{after}", comment.unwrap_or_default()))
}

/// A value that is nobody's business.
fn foreign() -> impl Strategy<Value = String> {
    let values = vec![
        "1",
        "-0.50e+3",
        "12345678901234567890",
        "\"a\\u00e9\\n\\\"\\/\"",
        "true",
        "null",
        "[ 1,2 , ]",
        "{}",
        "{ \"deep\": [ { /* ~ */ \"a\" : 1 } ], }",
        "\"// no comment\"",
        "\"😀\"",
    ];
    prop::sample::select(values).prop_map(str::to_string)
}

/// How a server is written, and what becomes of it.
#[derive(Debug, Clone)]
struct Server {
    before: String,
    text: &'static str,
    fate: Fate,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Stays,
    Goes,
    Changes,
}

fn fate() -> impl Strategy<Value = Fate> {
    prop::sample::select(vec![Fate::Stays, Fate::Stays, Fate::Goes, Fate::Changes])
}

fn server() -> impl Strategy<Value = Server> {
    let texts = vec![
        "{ \"command\": \"a\",   \"args\": [ 1,\n 2 ] }",
        "{\"command\":\"b\"}",
        "{\r\n\t\"command\" : \"c\" , // ~\n \"env\": { \"KEY\" : \"\\u0041\", }, }",
        "{ /* ~ */ }",
    ];
    (gap(), prop::sample::select(texts), fate()).prop_map(|(before, text, fate)| Server {
        before,
        text,
        fate,
    })
}

#[derive(Debug, Clone)]
struct JsonFile {
    mark: bool,
    head: String,
    tail: String,
    others: Vec<(String, String, String)>,
    /// The servers, how their object ends, and whether a comma too many stands there; and their place among the others.
    servers: Option<(Vec<Server>, String, bool, usize)>,
    trailing_comma: bool,
    added: usize,
}

fn json_file() -> impl Strategy<Value = JsonFile> {
    let servers = (prop::collection::vec(server(), 0..5), gap(), any::<bool>(), 0..5_usize);
    let others = prop::collection::vec((gap(), foreign(), gap()), 0..5);
    (any::<bool>(), gap(), gap(), others, prop::option::weighted(0.8, servers), any::<bool>(), 0..3_usize)
        .prop_map(|(mark, head, tail, others, servers, trailing_comma, added)| {
            // A comment that reaches to the end of its line must end before something follows.
            JsonFile { mark, head, tail, others, servers, trailing_comma, added }
        })
}

/// Gives every comment a number of its own.
fn number(text: &str, next: &mut usize) -> String {
    let mut numbered = String::new();
    for (count, part) in text.split(['§', '~']).enumerate() {
        if count > 0 {
            *next += 1;
            numbered.push_str(&format!("c{next}c"));
        }
        numbered.push_str(part);
    }
    numbered
}

/// A file as text, with what is to be found in it afterwards.
struct Written {
    text: String,
    /// Pieces that must be there afterwards, in this order. Blank lines above a table of TOML are the table's.
    kept: Vec<String>,
    wanted: Map<String, Value>,
    /// What comes before the first server, and after the last, where there is a place for servers already.
    around: Option<(String, String)>,
}

fn write_json(file: &JsonFile) -> Written {
    let mut next = 0;
    let mut number = |text: &str| number(text, &mut next);
    let (mut kept, mut wanted, mut around) = (Vec::new(), Map::new(), None);
    let mut text = String::from(if file.mark { "\u{feff}" } else { "" });
    text.push_str(&number(&file.head));
    text.push('{');
    let place = file.servers.as_ref().map(|(.., place)| (*place).min(file.others.len()));
    let members = file.others.len() + usize::from(place.is_some());
    let mut others = file.others.iter().enumerate();
    for member in 0..members {
        if place == Some(member) {
            let (servers, end, comma, _) = file.servers.as_ref().unwrap();
            text.push_str("\n  \"amp.mcpServers\" : {");
            let before = text.clone();
            for (count, server) in servers.iter().enumerate() {
                let gap = number(&server.before);
                let written = number(server.text);
                let name = format!("server {count}");
                let whole = format!("\"{name}\":{written}");
                text.push_str(&format!("{gap}{whole}"));
                if count + 1 < servers.len() || *comma {
                    text.push(',');
                }
                let value: Value = jsonc(&written);
                match server.fate {
                    Fate::Stays => {
                        kept.push(whole);
                        wanted.insert(name, value);
                    }
                    Fate::Changes => {
                        kept.push(format!("\"{name}\":{{"));
                        let mut value = value;
                        value["command"] = json!("changed \"here\"\\");
                        wanted.insert(name, value);
                    }
                    Fate::Goes => {}
                }
            }
            text.push_str(&number(end));
            let at = text.len();
            text.push('}');
            around = Some((before, at));
        } else {
            let (count, (before, value, after)) = others.next().unwrap();
            // A comma may have to come between the two.
            for piece in [format!("{}\"other {count}\":{}", number(before), number(value)), number(after)] {
                kept.push(piece.trim_end().to_string());
                text.push_str(&piece);
            }
        }
        if member + 1 < members || file.trailing_comma {
            text.push(',');
        }
    }
    text.push_str("\n}");
    text.push_str(&number(&file.tail));
    for count in 0..file.added {
        wanted
            .insert(format!("added {count}"), json!({"command": "x", "args": ["ü", {"a": null}], "n": 1.5}));
    }
    let around = around.map(|(before, at)| (before, text[at..].to_string()));
    Written { text, kept, wanted, around }
}

fn jsonc(text: &str) -> Value {
    let file = mcp_file("AMP").unwrap();
    let whole = file.read(&format!("{{\"amp.mcpServers\": {{\"x\": {text}}}}}")).unwrap();
    whole["x"].clone()
}

/// Checks that pieces stand in a text, one after the other.
fn in_order(text: &str, pieces: &[String]) -> Result<(), String> {
    let mut rest = text;
    for piece in pieces {
        let at = rest.find(piece.as_str()).ok_or_else(|| format!("{piece:?} is gone or moved"))?;
        rest = &rest[at + piece.len()..];
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json_around_the_servers_stays_byte_for_byte(file in json_file()) {
        let written = write_json(&file);
        let mcp = mcp_file("AMP").unwrap();
        let edited = mcp.edit(&written.text, &written.wanted);
        let edited = edited.map_err(|why| TestCaseError::fail(format!("{why}\n{:?}", written.text)))?;
        prop_assert_eq!(&mcp.read(&edited).unwrap(), &written.wanted);
        if let Err(why) = in_order(&edited, &written.kept) {
            prop_assert!(false, "{}\nbefore: {:?}\nafter:  {:?}", why, written.text, edited);
        }
        match &written.around {
            Some((before, after)) => {
                prop_assert!(edited.starts_with(before), "before: {:?}\nafter:  {:?}", written.text, edited);
                prop_assert!(edited.ends_with(after), "before: {:?}\nafter:  {:?}", written.text, edited);
            }
            None if written.wanted.is_empty() => prop_assert_eq!(&edited, &written.text),
            // The new key is put in one place; a comma may have to come before it.
            None => prop_assert!(is_inserted(&written.text, &edited), "{:?}\n{:?}", written.text, edited),
        }
        prop_assert_eq!(&mcp.edit(&edited, &written.wanted).unwrap(), &edited);
    }

    #[test]
    fn toml_around_the_servers_stays_byte_for_byte(file in toml_file()) {
        let written = write_toml(&file);
        let mcp = mcp_file("CODEX").unwrap();
        let edited = mcp.edit(&written.text, &written.wanted);
        let edited = edited.map_err(|why| TestCaseError::fail(format!("{why}\n{:?}", written.text)))?;
        prop_assert_eq!(&mcp.read(&edited).unwrap(), &written.wanted);
        if let Err(why) = in_order(&edited, &written.kept) {
            prop_assert!(false, "{}\nbefore: {:?}\nafter:  {:?}", why, written.text, edited);
        }
        prop_assert_eq!(&mcp.edit(&edited, &written.wanted).unwrap(), &edited);
    }

    /// Whatever stands in a file, nothing panics, and what is not understood is refused.
    #[test]
    fn no_text_is_too_strange(text in "[\\{\\}\\[\\]\",:/*#= \\n\\r\\\\a1\u{feff}é]{0,40}") {
        for agent in ["AMP", "CODEX"] {
            let mcp = mcp_file(agent).unwrap();
            let wanted = json!({"x": {"command": "y"}}).as_object().unwrap().clone();
            if let Ok(edited) = mcp.edit(&text, &wanted) {
                prop_assert_eq!(&mcp.read(&edited).unwrap(), &wanted, "{:?} became {:?}", text, edited);
            }
        }
    }
}

/// Says whether one text is the other with something put in at one place, and a comma at another at most.
fn is_inserted(before: &str, after: &str) -> bool {
    let head = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
    let (rest, mut grown) = (&before.as_bytes()[head..], &after.as_bytes()[head..]);
    if grown.ends_with(rest) {
        return true;
    }
    // Behind a comma that was put in, the rest goes on up to where the key was put in.
    if grown.first() != Some(&b',') {
        return false;
    }
    grown = &grown[1..];
    let more = rest.iter().zip(grown).take_while(|(a, b)| a == b).count();
    grown[more..].ends_with(&rest[more..])
}

#[derive(Debug, Clone)]
struct TomlFile {
    mark: bool,
    crlf: u8,
    top: Vec<&'static str>,
    tables: Vec<TomlPiece>,
    tail: &'static str,
    added: usize,
}

#[derive(Debug, Clone)]
enum TomlPiece {
    Other(&'static str),
    Server(&'static str, Fate),
}

fn toml_file() -> impl Strategy<Value = TomlFile> {
    let top = prop::sample::select(vec![
        "# § ü\nmodel   = \"gpt\" # §\n",
        "\"quoted key\" = 'x'\n",
        "a.b.c = 1_000\n\n",
        "started = 2025-01-01T00:00:00Z # §\n",
        "list = [\n  1, # §\n  2,\n]\n",
        "text = \"\"\"\nline\n  # no comment\n\"\"\"\n",
        "\n\n   # §\n",
    ]);
    let other = prop::sample::select(vec![
        "[tui]\n\tnotifications   =   true\n",
        "# §\n[ projects . \"/a/b\" ] # §\ntrust_level = \"trusted\"\n",
        "[[rows]]\na = 0x1F\n\n[[rows]]\na = { b = 1 }\n",
        "[profiles.o3]\n# §\n",
    ]);
    let server = prop::sample::select(vec![
        "\n[mcp_servers.NAME]\n# §\ncommand = \"a\" # §\nargs = [\n  \"-y\", # §\n]\n",
        "[mcp_servers.\"NAME\"]\ncommand='b'\nenv = { KEY = \"old\" }\n",
        "# §\n[mcp_servers.NAME]\nurl = \"u\"\n[mcp_servers.NAME.env]\n  A = \"1\" # §\n",
    ]);
    let piece = prop_oneof![
        other.prop_map(TomlPiece::Other),
        (server, fate()).prop_map(|(text, fate)| TomlPiece::Server(text, fate)),
    ];
    let tail = prop::sample::select(vec!["", "# §\n", "\n\n# § without an end"]);
    let tops = prop::collection::vec(top, 0..4);
    (any::<bool>(), 0..3_u8, tops, prop::collection::vec(piece, 0..6), tail, 0..3_usize)
        .prop_map(|(mark, crlf, top, tables, tail, added)| TomlFile { mark, crlf, top, tables, tail, added })
}

fn write_toml(file: &TomlFile) -> Written {
    let mut next = 0;
    let mut ends = 0_usize;
    // All line ends of one kind, or now this and now that.
    let mut write = |text: &str| {
        let text = number(text, &mut next);
        let mut written = String::new();
        for line in text.split_inclusive('\n') {
            ends += 1;
            match line.strip_suffix('\n') {
                Some(line) if file.crlf == 2 || (file.crlf == 1 && ends.is_multiple_of(3)) => {
                    written.push_str(line);
                    written.push_str("\r\n");
                }
                _ => written.push_str(line),
            }
        }
        written
    };
    let mut text = String::from(if file.mark { "\u{feff}" } else { "" });
    let (mut kept, mut wanted) = (Vec::new(), Map::new());
    // A key may stand in a file once, so that each piece is used once.
    let mut seen = Vec::new();
    for piece in &file.top {
        if !seen.contains(piece) {
            seen.push(piece);
            let piece = write(piece);
            text.push_str(&piece);
            kept.push(piece.trim().to_string());
        }
    }
    for (count, piece) in file.tables.iter().enumerate() {
        match piece {
            TomlPiece::Other(piece) => {
                if !seen.contains(piece) {
                    seen.push(piece);
                    let piece = write(piece);
                    text.push_str(&piece);
                    kept.push(piece.trim().to_string());
                }
            }
            TomlPiece::Server(piece, fate) => {
                let name = format!("s{count}");
                let lf = piece.replace("NAME", &name);
                let piece = write(&lf);
                text.push_str(&piece);
                let read = mcp_file("CODEX").unwrap().read(&lf).unwrap()[&name].clone();
                match fate {
                    Fate::Stays => {
                        kept.push(piece.trim().to_string());
                        wanted.insert(name, read);
                    }
                    Fate::Changes => {
                        let mut read = read;
                        read["command"] = json!("changed");
                        read["more"] = json!(["x"]);
                        wanted.insert(name, read);
                    }
                    Fate::Goes => {}
                }
            }
        }
    }
    let tail = write(file.tail);
    text.push_str(&tail);
    kept.push(tail.trim().to_string());
    for count in 0..file.added {
        wanted.insert(format!("added {count}"), json!({"command": "x", "args": ["ü"], "env": {"A": "1"}}));
    }
    Written { text, kept, wanted, around: None }
}
