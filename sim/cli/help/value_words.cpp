// Most options set a key of a file, and the row of the key has the words. The others have a row
// here, which names their table.
#include "cli/help/help_text.hpp"

#include "cli/collective/collective_flags.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/text/key_text.hpp"
#include "run/collective_keys.hpp"
#include "study/alternatives.hpp"
#include "study/tune_values.hpp"

namespace stepsim::cli {

namespace {

using io::Key;
using io::KeyKind;
using Candidates = std::vector<Candidate>;

template <class Words> Candidates plain_words(const Words& words) {
  return base::collected<Candidate>(words, [](std::string_view word) {
    return Candidate{std::string(word), ""};
  });
}

Candidates planner_words(const std::string&) { return named(buckets::planners()); }
Candidates alternative_words(const std::string&) {
  Candidates words = named(study::alternatives());
  words.insert(words.begin(), {"all", ""});
  return words;
}
Candidates kind_words(const std::string&) {
  return plain_words(base::collected<std::string_view>(file_kinds(), &io::FileKind::kind));
}
Candidates metric_words(const std::string&) {
  Candidates words;
  for (const study::SummaryField& field : study::kSummaryFields) {
    if (field.is_number()) {
      words.push_back({std::string(field.key) + "=", std::string(field.sentence)});
    }
  }
  return words;
}

// The shipped files that a key may name instead of a path.
Candidates shipped_words(study::FileKind kind, const std::string& data_folder) {
  const study::Shipped* shipped = study::shipped_kind(kind);
  if (shipped == nullptr) {
    return {};
  }
  Candidates words;
  for (const auto& [name, path] : study::shipped_files(data_folder, *shipped)) {
    if (study::is_listed(name)) {
      words.push_back({name, ""});
    }
  }
  return words;
}
template <study::FileKind... kinds> Candidates shipped(const std::string& data_folder) {
  Candidates words;
  (std::ranges::move(shipped_words(kinds, data_folder), std::back_inserter(words)), ...);
  return words;
}

// An option or argument of a command whose words are those of a table, or names of shipped files.
struct TableOption {
  std::string_view command;
  std::string_view option;
  Candidates (*words)(const std::string& data_folder);
};
constexpr std::array kTableOptions{
    TableOption{"tune", "--knob", [](const std::string&) { return named(study::knobs()); }},
    TableOption{"plan", "--planners", planner_words},
    TableOption{"replay", "--schedules", planner_words},
    TableOption{"compare", "--algorithms", alternative_words},
    TableOption{"schema", "KIND", kind_words},
    TableOption{"keys", "--kind", kind_words},
    TableOption{"models", "--granularity",
                [](const std::string&) { return plain_words(layers::kGranularities.all()); }},
    TableOption{"solve", "--target", metric_words},
    TableOption{"models", "NAME", shipped<study::FileKind::model>},
    TableOption{"presets", "NAME", shipped<study::FileKind::node>},
    TableOption{"topologies", "NAME", shipped<study::FileKind::topology, study::FileKind::node>},
    TableOption{"init", "--network", shipped<study::FileKind::profile>},
    TableOption{"init", "--intra-network", shipped<study::FileKind::profile>},
};

// Words of a row, of any of its forms, or of the elements of a list.
void add_words(const Key& key, Candidates& words) {
  switch (key.kind) {
  case KeyKind::word:
    std::ranges::move(plain_words(key.words.all()), std::back_inserter(words));
    break;
  case KeyKind::boolean:
    words.push_back({"true", ""});
    words.push_back({"false", ""});
    break;
  case KeyKind::either:
  case KeyKind::list:
    for (const Key& form : key.keys) {
      add_words(form, words);
    }
    break;
  case KeyKind::number:
  case KeyKind::integer:
  case KeyKind::text:
  case KeyKind::object:
  case KeyKind::map:
  case KeyKind::any:
    break;
  }
}

Candidates words_at(const Key& root, std::string_view pointer, const std::string& data_folder) {
  Candidates words;
  if (const Key* key = io::key_at(root, pointer)) {
    add_words(*key, words);
    const bool plain = key->kind == KeyKind::number || key->kind == KeyKind::integer;
    if (const std::string value = default_text(*key); plain && !value.empty()) {
      words.push_back({value, "default"});
    }
  }
  std::ranges::move(shipped_words(study::file_kind_at(pointer), data_folder),
                    std::back_inserter(words));
  return words;
}

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

// "ring or tree" -> ring, tree; none where other words stand in the list.
Candidates words_of_list(std::string_view list) {
  Candidates words;
  while (!list.empty()) {
    const std::size_t comma = list.find(", ");
    const std::size_t next = std::min(comma, list.find(" or "));
    const std::string_view word = list.substr(0, next);
    if (!is_word(word)) {
      return {};
    }
    words.push_back({std::string(word), ""});
    list.remove_prefix(next == list.npos ? list.size() : next + (next == comma ? 2 : 4));
  }
  return words;
}

// "kernel or wall; default kernel" -> kernel, wall; "of the rows: registration or execution" ->
// registration, execution. None where the sentence says something else.
Candidates words_of_sentence(std::string_view sentence) {
  const std::string_view clause = sentence.substr(0, sentence.find(';'));
  if (Candidates words = words_of_list(clause); !words.empty()) {
    return words;
  }
  const std::size_t colon = clause.find(": ");
  return colon == clause.npos ? Candidates{} : words_of_list(clause.substr(colon + 2));
}

} // namespace

Candidates value_words(const CommandPage& page, const OptionText& option,
                       const std::string& data_folder) {
  const std::string_view name = option.names.back();
  const auto is_here = [&](const auto& row) {
    return row.command == page.text.name && row.option == name;
  };
  if (const auto* row = std::ranges::find_if(kTableOptions, is_here); row != kTableOptions.end()) {
    return row->words(data_folder);
  }
  if (page.text.name == "collective") {
    if (const std::string_view pointer = pointer_of_collective_flag(name); !pointer.empty()) {
      return words_at(study::keys::kCollectiveFile, pointer, data_folder);
    }
  }
  if (page.text.name == "init") {
    if (const std::string pointer = pointer_of_flag(name); !pointer.empty()) {
      return words_of_key(pointer, data_folder);
    }
  }
  return words_of_sentence(option.sentence);
}

Candidates words_of_key(std::string_view pointer, const std::string& data_folder) {
  return words_at(study::keys::kScenario, pointer, data_folder);
}

// A pointer that has keys below it and a value of its own, as a file or an object, is given twice.
Candidates pointer_words(std::string_view typed, std::string_view end) {
  const std::string_view parent = typed.substr(0, typed.rfind('/') + 1);
  Candidates words;
  for (const PlacedKey& each : placed_keys(study::keys::kScenario)) {
    const std::string_view pointer = each.pointer;
    if (!pointer.starts_with(typed) || pointer.find('*') != pointer.npos) {
      continue;
    }
    const std::size_t slash = pointer.find('/', std::max<std::size_t>(parent.size(), 1));
    const bool is_inner = slash != pointer.npos;
    if (!is_inner && (each.key->kind == KeyKind::object || each.key->kind == KeyKind::list)) {
      continue; // by its keys or elements
    }
    std::string word(pointer.substr(0, is_inner ? slash + 1 : slash));
    word += is_inner ? "" : end;
    if (std::ranges::find(words, word, &Candidate::word) == words.end()) {
      const Key* key =
          is_inner ? io::key_at(study::keys::kScenario, pointer.substr(0, slash)) : each.key;
      words.push_back({std::move(word), key == nullptr ? "" : std::string(key->sentence)});
    }
  }
  return words;
}

} // namespace stepsim::cli
