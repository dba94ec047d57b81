// Rows are looked up by a linear search: an object has at most a few dozen keys, and the tables are
// constants that need no index built at the start.
#include "document/fields/key.hpp"

namespace stepsim::io {

namespace {

// The row below `row` for one token of a pointer. Of several forms a list takes numbers only; else
// a token that is a name would be taken for an index of the list that stands before the object.
const Key* below(const Key& row, std::string_view token) {
  switch (row.kind) {
  case KeyKind::object:
    return find_key(row, token);
  case KeyKind::list:
  case KeyKind::map:
    return row.keys.data();
  case KeyKind::either:
    for (const Key& form : row.keys) {
      const bool index = !token.empty() && token.find_first_not_of("0123456789") == token.npos;
      if ((form.kind != KeyKind::list || index)) {
        if (const Key* found = below(form, token)) {
          return found;
        }
      }
    }
    return nullptr;
  case KeyKind::number:
  case KeyKind::integer:
  case KeyKind::boolean:
  case KeyKind::text:
  case KeyKind::word:
  case KeyKind::any:
    return nullptr;
  }
  return nullptr;
}

} // namespace

std::vector<std::string_view> KeyWords::all() const {
  return list_ != nullptr ? list_() : std::vector<std::string_view>(words_.begin(), words_.end());
}

std::span<const std::string_view> KeyWords::all(std::vector<std::string_view>& made) const {
  if (list_ == nullptr) {
    return words_;
  }
  made = list_();
  return made;
}

std::string_view KeyWords::at(std::size_t place) const {
  return list_ == nullptr ? words_[place] : list_()[place];
}

const Key* find_key(const Key& object, std::string_view name) {
  for (const std::span<const Key> keys : {object.keys, object.more}) {
    if (const auto found = std::ranges::find(keys, name, &Key::name); found != keys.end()) {
      return &*found;
    }
  }
  return nullptr;
}

std::vector<const Key*> keys_of(const Key& object) {
  std::vector<const Key*> all;
  for (const std::span<const Key> keys : {object.keys, object.more}) {
    for (const Key& key : keys) {
      all.push_back(&key);
    }
  }
  return all;
}

const Key* key_at(const Key& root, std::string_view pointer) {
  const Key* row = &root;
  while (row != nullptr && !pointer.empty()) {
    pointer.remove_prefix(1);
    const std::string_view token = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(token.size());
    row = below(*row, token);
  }
  return row;
}

} // namespace stepsim::io
