// stepsim keys [POINTER | WORDS]: what the keys of a scenario mean, and which go together.
// Everything that is printed comes from the rows of the keys and from the rules of scenarios, so
// that a new key needs no line here.
#include "cli/commands/commands.hpp"

#include <cctype>
#include <ranges>

#include <CLI/CLI.hpp>

#include "cli/text/key_text.hpp"
#include "scenario/rules.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kKeysText = answered_at_once({
    "keys",
    "[POINTER | WORDS]",
    R"(Tells what a key of a scenario, or of another kind of file, means, which values it takes, its
default and when it counts. POINTER is a JSON pointer as --set and --over take it; an object
shows its keys, words without a slash the keys with them in their names and behind these the keys
with them in their values or meaning, and without either all keys are listed. --rules lists when
each key counts: the keys that go together.)",
    "stepsim keys /cluster/nics_per_node\n"
    "stepsim keys /communication/compression\n"
    "stepsim keys bandwidth\n"
    "stepsim keys 'gradient accumulation'\n"
    "stepsim keys --rules\n"
    "stepsim keys /layers --kind trace",
    "docs/scenario-keys.md has the same as a page.",
    kTableFormats,
});

constexpr std::string_view kScenario = "scenario";

// A kind of file, with the keys that every file that is read has.
struct Root {
  std::string_view kind;
  io::Key key;
  [[nodiscard]] std::string name() const { // in errors
    return (kind == kScenario ? "a " : "kind ") + std::string(kind);
  }
  // When a key counts; rules are those of scenarios.
  [[nodiscard]] std::vector<std::string> conditions(std::string_view pointer) const {
    return kind == kScenario ? study::conditions(pointer) : std::vector<std::string>{};
  }
};

Root root_of(const std::string& kind) {
  const io::FileKind each =
      base::row_named(file_kinds(), &io::FileKind::kind, kind, "--kind: ", "kind");
  const bool has_header = each.has_header && each.root->more.empty();
  return {each.kind, has_header ? each.root->and_also(io::kHeaderKeys) : *each.root};
}

// What stands before ". ": a table on a terminal has no room for more.
std::string first_sentence(std::string_view text) {
  const std::size_t end = text.find(". ");
  return std::string(end == text.npos ? text : text.substr(0, end + 1));
}

// A terminal shows the first sentence of a key and the beginning of long cells only; CSV, HTML and
// Markdown have all of it, and so has the page of the one key.
Table key_table(const std::vector<PlacedKey>& keys, Format format) {
  const auto cell_of = [format](std::string_view text, std::size_t columns) {
    return format == Format::table ? base::shown_value(text, columns) : std::string(text);
  };
  Table table{{"key", "values", "default", "meaning"}};
  for (const PlacedKey& each : keys) {
    const std::string fallback = each.key->is_required ? "required" : default_text(*each.key);
    const std::string_view sentence = each.key->sentence;
    table.rows.push_back(
        {each.pointer, cell_of(values_text(*each.key), 36),
         fallback.empty() ? "-" : cell_of(fallback, 16),
         cell_of(format == Format::table ? first_sentence(sentence) : std::string(sentence), 80)});
  }
  return table;
}

// Keys that count everywhere have no row.
Table rule_table(const Root& root, const std::vector<PlacedKey>& keys) {
  Table table{{"key", "counts where"}};
  for (const PlacedKey& each : keys) {
    if (const auto when = root.conditions(each.pointer); !when.empty()) {
      table.rows.push_back({each.pointer, base::listed(when, {}, "; and ")}); // all must hold
    }
  }
  return table;
}

// Small letters; words are apart by spaces, as in "all reduce" for all-reduce and all_reduce.
std::string plain_words(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char each) {
    return each == '_' || each == '-' ? ' ' : static_cast<char>(std::tolower(each));
  });
  return text;
}

// Keys with these words in their names, for who does not know the place ("bandwidth"), and behind
// them those with all of the words in their values or meaning ("fsdp", "tensor fusion"). Throws
// UsageError with words of names that are near: "bandwith" asks for bandwidth.
std::vector<PlacedKey> keys_named(const Root& root, const std::string& words,
                                  const std::vector<PlacedKey>& all) {
  const std::string wanted = plain_words(words);
  std::vector<PlacedKey> found;
  std::vector<PlacedKey> behind;
  std::vector<std::string_view> known;
  for (const PlacedKey& each : all) {
    const auto name = std::string_view(each.pointer).substr(each.pointer.rfind('/') + 1);
    const std::string meaning =
        plain_words(values_text(*each.key) + " " + std::string(each.key->sentence));
    if (plain_words(std::string(name)).find(wanted) != std::string::npos) {
      found.push_back(each);
    } else if (std::ranges::all_of(wanted | std::views::split(' '), [&](const auto& word) {
                 return !std::ranges::search(meaning, word).empty();
               })) {
      behind.push_back(each);
    }
    known.push_back(name.substr(0, name.find('_')));
    known.push_back(name);
  }
  found.insert(found.end(), behind.begin(), behind.end());
  if (found.empty()) {
    throw UsageError(base::shown_value(words) + ": no key of " + root.name() +
                     " has this in its name, values or meaning" + base::did_you_mean(words, known));
  }
  return found;
}

// The keys that the command is asked for: one alone, or one and those below it. Throws UsageError
// for a pointer without a key. The same key in another object is then a better guess than one of
// similar spelling: /nodes asks for /cluster/nodes.
std::vector<PlacedKey> asked_keys(const Root& root, const std::string& pointer) {
  std::vector<PlacedKey> all = placed_keys(root.key);
  if (pointer.empty()) {
    return all;
  }
  if (pointer.front() != '/') {
    return keys_named(root, pointer, all);
  }
  const io::Key* row = io::key_at(root.key, pointer);
  std::vector<PlacedKey> found;
  if (row != nullptr) {
    found.push_back({pointer, row});
    for (PlacedKey& each : all) {
      if (each.pointer.starts_with(pointer + "/")) {
        found.push_back(std::move(each));
      }
    }
    return found;
  }
  const auto known = base::collected<std::string_view>(all, &PlacedKey::pointer);
  const std::string key = pointer.substr(pointer.rfind('/'));
  const auto same =
      std::ranges::find_if(known, [&](std::string_view each) { return each.ends_with(key); });
  throw UsageError("POINTER " + base::shown_value(pointer) + ": no key of " + root.name() +
                   (same != known.end() ? ", did you mean " + std::string(*same) + "?"
                                        : base::did_you_mean(pointer, known)));
}

} // namespace

// An object that is asked for shows its own sentence first and then its keys as a table; the other
// formats are tables alone.
int keys(const Invocation& invocation) {
  std::string pointer;
  std::string kind(kScenario);
  bool rules = false;
  CLI::App app;
  app.add_option("POINTER", pointer,
                 "JSON pointer of a key, such as /cluster/nodes, or a part of its name");
  add_value(app, "--kind", kind, "KIND",
            "kind of file, as stepsim schema lists them; default scenario");
  app.add_flag("--rules", rules, "list when each key of a scenario counts");
  Common common(app, kKeysText, invocation);
  if (rules && kind != kScenario) {
    throw UsageError("--rules: only a scenario has rules of which keys go together");
  }
  const Root root = root_of(kind);
  const std::vector<PlacedKey> found = asked_keys(root, pointer);
  const Format format = format_of(common, Format::table);
  const auto records = [&] {
    io::Array list;
    for (const PlacedKey& each : found) {
      const auto when = root.conditions(each.pointer);
      if (!rules || !when.empty()) {
        list.push_back(key_json(each, when));
      }
    }
    return list;
  };
  const bool page = !rules && pointer.starts_with('/') && format == Format::table;
  const auto tables = [&] {
    const std::vector<PlacedKey> listed(found.begin() + (page ? 1 : 0), found.end());
    return std::vector{rules ? rule_table(root, listed) : key_table(listed, format)};
  };
  const auto tree = [&] { return io::Json(io::Object{{"keys", records()}}); };
  const auto text = [&] {
    return key_page(found.front(), root.conditions(found.front().pointer)) +
           (found.size() > 1 ? "\n" + tables_in(format, tables()) : "");
  };
  return write_document(common, {.text = page ? text : std::function<std::string()>(),
                                 .tables = tables,
                                 .tree = tree,
                                 .records = records});
}

} // namespace stepsim::cli
