//! No import cycles between modules, in any crate and at any depth.
//!
//! The sources are read as they stand: `use` trees and paths, `self` and `super` resolved, names that
//! an enclosing module re-exports followed to where they are defined. What only tests see is skipped;
//! bodies of macros are not read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility};

use crate::support::root;

/// Root files of the crates.
fn crate_roots() -> Vec<PathBuf> {
    let mut roots = vec![root().join("engine/lib.rs"), root().join("web/lib.rs")];
    for folder in ["engine", "systems", "io", "web"] {
        let parts = std::fs::read_dir(root().join(folder)).unwrap();
        let manifests = parts.map(|part| part.unwrap().path().join("Cargo.toml"));
        roots.extend(
            manifests.filter(|path| path.exists()).map(|path| path.with_file_name("lib.rs")),
        );
    }
    roots.sort();
    assert!(roots.len() > 30, "{roots:?}");
    roots
}

/// A module by its path from the crate root.
type ModulePath = Vec<String>;

struct Module {
    file: PathBuf,
    /// Paths that occur in it, as written, with their lines.
    paths: Vec<(Vec<String>, usize)>,
    /// Names that `use` binds, with the paths they stand for.
    names: BTreeMap<String, Vec<String>>,
}

/// The modules of a crate.
struct Tree(BTreeMap<ModulePath, Module>);

/// Imports between the children of one module: where the first one stands.
type Edges = BTreeMap<(String, String), String>;

impl Tree {
    fn read(root: &Path) -> Self {
        let mut tree = Self(BTreeMap::new());
        let folder = root.parent().expect("a root file lies in a folder");
        tree.add_file(Vec::new(), root, folder);
        tree
    }

    /// Reads the file of the module `at`, whose children lie in `folder`.
    fn add_file(&mut self, at: ModulePath, file: &Path, folder: &Path) {
        let text = std::fs::read_to_string(file).unwrap_or_else(|err| panic!("{file:?}: {err}"));
        let parsed = syn::parse_file(&text).unwrap_or_else(|err| panic!("{file:?}: {err}"));
        self.add(at, file, folder, parsed.items);
    }

    fn add(&mut self, at: ModulePath, file: &Path, folder: &Path, items: Vec<Item>) {
        let mut module = Module {
            file: file.strip_prefix(root()).unwrap_or(file).to_owned(),
            paths: Vec::new(),
            names: BTreeMap::new(),
        };
        for item in items.iter().filter(|item| !only_in_tests(attributes(item))) {
            module.visit_item(item);
        }
        self.0.insert(at.clone(), module);
        for item in items {
            let Item::Mod(child) = item else { continue };
            if only_in_tests(&child.attrs) {
                continue;
            }
            let name = child.ident.to_string();
            let path = [at.clone(), vec![name.clone()]].concat();
            let inside = folder.join(&name);
            match child.content {
                Some((_, items)) => self.add(path, file, &inside, items),
                None => {
                    let flat = folder.join(format!("{name}.rs"));
                    let file = if flat.exists() { flat } else { inside.join("mod.rs") };
                    self.add_file(path, &file, &inside);
                }
            }
        }
    }

    /// The module that holds what `segments` mean in the module `at`.
    fn resolve(&self, at: &[String], segments: &[String], depth: usize) -> Option<ModulePath> {
        if depth > 16 {
            return None;
        }
        let (mut here, mut rest) = (at.to_vec(), segments);
        match rest.first()?.as_str() {
            "crate" => (here, rest) = (Vec::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|first| first == "super") {
                    here.pop()?;
                    rest = &rest[1..];
                }
            }
            first if !self.has_name(&here, first) => return None,
            _ => {}
        }
        for (used, segment) in rest.iter().enumerate() {
            let child = [here.clone(), vec![segment.clone()]].concat();
            if self.0.contains_key(&child) {
                here = child;
                continue;
            }
            // An item re-exported by an enclosing module is an import of its origin; any other
            // module that re-exports an item is imported itself.
            let name = self.0[&here].names.get(segment);
            let Some(name) = name.filter(|_| at.starts_with(&here)) else {
                break;
            };
            if name == segments && here == at {
                break;
            }
            let whole = [name.as_slice(), &rest[used + 1..]].concat();
            return self.resolve(&here, &whole, depth + 1).or(Some(here));
        }
        Some(here)
    }

    fn has_name(&self, at: &[String], name: &str) -> bool {
        let child = [at.to_vec(), vec![name.to_owned()]].concat();
        self.0.contains_key(&child) || self.0[at].names.contains_key(name)
    }

    /// Imports between siblings, by the module that holds both.
    fn edges(&self) -> BTreeMap<ModulePath, Edges> {
        let mut edges: BTreeMap<ModulePath, Edges> = BTreeMap::new();
        for (at, module) in &self.0 {
            for (segments, line) in &module.paths {
                let Some(target) = self.resolve(at, segments, 0) else {
                    continue;
                };
                let shared = at.iter().zip(&target).take_while(|(a, b)| a == b).count();
                if let (Some(from), Some(to)) = (at.get(shared), target.get(shared)) {
                    let place = format!("{}:{line}", module.file.display());
                    let siblings = edges.entry(at[..shared].to_vec()).or_default();
                    siblings.entry((from.clone(), to.clone())).or_insert(place);
                }
            }
        }
        edges
    }
}

/// The edges that are part of a cycle.
fn cyclic(edges: &Edges) -> Vec<String> {
    let reaches = |from: &str, to: &str| {
        let (mut closure, mut waiting) = (BTreeSet::new(), vec![from]);
        while let Some(node) = waiting.pop() {
            if closure.insert(node) {
                let out = edges.keys().filter(|(start, _)| start == node);
                waiting.extend(out.map(|(_, end)| end.as_str()));
            }
        }
        closure.contains(to)
    };
    let within = edges.iter().filter(|((from, to), _)| reaches(to, from));
    within.map(|((from, to), place)| format!("{from} -> {to} {place}")).collect()
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item_mod(&mut self, _: &'ast ItemMod) {}

    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if item.leading_colon.is_none() && !only_in_tests(&item.attrs) {
            self.add_use(Vec::new(), &item.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            let segments = path.segments.iter().map(|one| one.ident.to_string());
            let line = path.segments[0].ident.span().start().line;
            self.paths.push((segments.collect(), line));
        }
        visit::visit_path(self, path);
    }
}

impl Module {
    fn add_use(&mut self, mut prefix: Vec<String>, tree: &UseTree) {
        let (line, name) = match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                return self.add_use(prefix, &path.tree);
            }
            UseTree::Group(group) => {
                let add = |tree| self.add_use(prefix.clone(), tree);
                return group.items.iter().for_each(add);
            }
            UseTree::Glob(glob) => (glob.star_token.spans[0].start().line, None),
            UseTree::Name(name) => {
                let ident = name.ident.to_string();
                // `use a::b::{self}` binds `b`.
                let bound =
                    if ident == "self" { prefix.last().cloned() } else { Some(ident.clone()) };
                if ident != "self" {
                    prefix.push(ident);
                }
                (name.ident.span().start().line, bound)
            }
            UseTree::Rename(name) => {
                prefix.push(name.ident.to_string());
                (name.ident.span().start().line, Some(name.rename.to_string()))
            }
        };
        if let Some(name) = name {
            self.names.insert(name, prefix.clone());
        }
        self.paths.push((prefix, line));
    }
}

fn only_in_tests(attributes: &[Attribute]) -> bool {
    let mut cfgs = attributes.iter().filter(|one| one.path().is_ident("cfg"));
    cfgs.any(|cfg| cfg.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test")))
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

#[test]
fn no_module_is_part_of_an_import_cycle() {
    let mut wrong = Vec::new();
    for crate_root in crate_roots() {
        for (at, edges) in Tree::read(&crate_root).edges() {
            let (cyclic, at) = (cyclic(&edges), at.join("::"));
            if !cyclic.is_empty() {
                wrong.push(format!("{} {at}: {cyclic:#?}", crate_root.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
