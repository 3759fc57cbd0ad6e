//! Where another product keeps its things: what the person named, or where that product always puts them.
//!
//! A path may be a data directory, a database or a home directory. What a product keeps secret beside its database is
//! not looked at.

use std::path::{Path, PathBuf};

use super::source::Product;
use crate::{Error, Result};

/// The newest name comes first: the other stays behind frozen, and would bring back what was deleted since.
const DATABASES: &[&str] = &["db.v2.sqlite", "db.sqlite"];

/// Where everything lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) database: PathBuf,
    /// The directory of its settings and logs.
    pub(super) data: PathBuf,
    /// Directories that may hold its images, the likeliest first.
    pub(super) images: Vec<PathBuf>,
}

/// Finds what was named, or the usual place below a home directory.
pub(super) fn find(
    product: Product,
    named: Option<&Path>,
    images: Option<&Path>,
    home: Option<&Path>,
) -> Result<Place> {
    let named = named.map(|path| absolute(path, home)).transpose()?;
    let looked_in: Vec<PathBuf> = match (&named, home) {
        (Some(path), _) => {
            let below = data_directories(product, path);
            let other = Product::ALL.iter().filter(|one| **one != product);
            let others = other.flat_map(|one| data_directories(*one, path));
            std::iter::once(path.clone()).chain(below).chain(others).collect()
        }
        (None, Some(home)) => data_directories(product, home),
        (None, None) => {
            return Err(Error::invalid("`path` must be given: this server does not know the home directory"));
        }
    };
    let database = looked_in.iter().find_map(|place| match place.is_file() {
        true => Some(place.clone()),
        false => DATABASES.iter().map(|name| place.join(name)).find(|file| file.is_file()),
    });
    let Some(database) = database else { return Err(nothing_there(product, named.as_deref(), &looked_in)) };
    let data = database.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut places: Vec<PathBuf> = images.map(|path| absolute(path, home)).transpose()?.into_iter().collect();
    // A whole home directory may have been copied here from another machine.
    let homes = data.ancestors().skip(1).take(4).chain(home);
    places.extend([data.join("images"), data.join("attachments")]);
    places.extend(homes.flat_map(image_directories));
    Ok(Place { database, data, images: places })
}

fn nothing_there(product: Product, named: Option<&Path>, looked_in: &[PathBuf]) -> Error {
    match named {
        Some(path) if !path.exists() => Error::invalid(format!("`path` {} is not there", path.display())),
        Some(path) => Error::invalid(format!(
            "there is no database of Automagik Forge or vibe-kanban in {}; name its data directory or its db.sqlite",
            path.display()
        )),
        None => {
            let places: Vec<String> = looked_in.iter().map(|place| place.display().to_string()).collect();
            Error::not_found(format!(
                "no data of {} was found in {}; say where it is",
                product.as_str(),
                places.join(" or ")
            ))
        }
    }
}

fn data_directories(product: Product, home: &Path) -> Vec<PathBuf> {
    let below: &[&str] = match product {
        Product::AutomagikForge => &[
            ".local/share/automagik-forge",
            "Library/Application Support/ai.namastex.automagik-forge",
            ".automagik-forge",
        ],
        Product::VibeKanban => {
            &[".local/share/vibe-kanban", "Library/Application Support/ai.bloop.vibe-kanban"]
        }
    };
    below.iter().map(|place| home.join(place)).collect()
}

fn image_directories(home: &Path) -> Vec<PathBuf> {
    let caches = [
        ".cache/utils/images",
        ".cache/utils/attachments",
        ".cache/forge-core-utils/images",
        "Library/Caches/ai.namastex.utils/images",
        "Library/Caches/ai.namastex.forge-core-utils/images",
        "Library/Caches/ai.bloop.utils/images",
        "Library/Caches/ai.bloop.utils/attachments",
        "cache/images",
    ];
    caches.iter().map(|place| home.join(place)).collect()
}

fn absolute(path: &Path, home: Option<&Path>) -> Result<PathBuf> {
    let whole = match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_path_buf(),
    };
    match whole.is_absolute() {
        true => Ok(whole),
        false => Err(Error::invalid(format!("{} must be an absolute path", path.display()))),
    }
}
