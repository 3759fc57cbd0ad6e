//! Reading requests: bodies, queries and paths, each refusal a sentence that names what is wrong.
//!
//! Bodies are read leniently: unknown keys are ignored, and `names` lists the older spellings of a key.
//! The framework's own extractors are not used for them, because their refusals are plain text.

mod body;
mod fields;
pub(crate) mod names;
mod path;
mod query;
mod text;
mod upload;

pub(crate) use body::{MaybeFields, StartCall};
pub(crate) use fields::Fields;
pub(crate) use path::{Id, Ids};
pub(crate) use query::Query;
pub(crate) use text::Text;
pub(crate) use upload::Upload;
