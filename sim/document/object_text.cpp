#include "document/json_text.hpp"

#include "base/collected.hpp"

#include <algorithm>
#include <cassert>

namespace stepsim::io {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 16;
constexpr std::size_t kLong = 64; // elements; the text of a longer list is made in parts

bool holds_long_list(const Json& value) {
  if (value.is_array()) {
    return value.as_array().size() > kLong ||
           std::ranges::any_of(value.as_array(), holds_long_list);
  }
  return value.is_object() && std::ranges::any_of(value.as_object(), [](const Member& member) {
           return holds_long_list(member.second);
         });
}

} // namespace

void ObjectText::begin_member(std::string_view key) {
  assert((empty_ || key > last_key_) && "members are written in the order of their keys");
  text_ += empty_ ? "{\n  " : ",\n  ";
  empty_ = false;
  last_key_ = key;
  append_compact(text_, key);
  text_ += ": ";
}

void ObjectText::append(const Json& value, std::size_t depth) {
  if (value.is_array() && holds_long_list(value)) {
    const Array& list = value.as_array();
    return append_list(
        list.size(), [&](std::size_t i) { append(list[i], depth + 1); }, depth);
  }
  if (holds_long_list(value)) {
    return append_object(value.as_object(), depth, "", nullptr);
  }
  require_finite(value);
  append_pretty(text_, value, depth);
  pass_on(kPieceBytes);
}

// `pointer` is that of the list from here; without a list it is empty.
void ObjectText::append_object(const Object& object, std::size_t depth, std::string_view pointer,
                               const ListBelow* list) {
  const std::size_t slash = std::min(pointer.find('/', 1), pointer.size());
  const std::string_view on_the_way = pointer.substr(0, slash);
  const std::string_view rest = pointer.substr(slash);
  std::vector<const Member*> members =
      base::collected<const Member*>(object, [](const Member& member) { return &member; });
  std::ranges::sort(members, [](const Member* a, const Member* b) { return a->first < b->first; });
  for (const Member* member : members) {
    const auto& [key, value] = *member;
    text_ += member == members.front() ? "{\n" : ",\n";
    text_.append(2 * (depth + 1), ' ');
    append_compact(text_, key);
    text_ += ": ";
    if (list == nullptr || on_the_way.substr(1) != key) {
      append(value, depth + 1);
    } else if (rest.empty()) {
      append_list(
          list->size, [&](std::size_t i) { append(list->element(i), depth + 2); }, depth + 1);
    } else {
      append_object(value.as_object(), depth + 1, rest, list);
    }
  }
  text_.append("\n").append(2 * depth, ' ') += '}';
}

void ObjectText::append_list(std::size_t size,
                             const std::function<void(std::size_t)>& append_element,
                             std::size_t depth) {
  if (size == 0) {
    text_ += "[]";
    return;
  }
  for (std::size_t i = 0; i < size; ++i) {
    text_ += i == 0 ? "[\n" : ",\n";
    text_.append(2 * (depth + 1), ' ');
    append_element(i);
  }
  text_.append("\n").append(2 * depth, ' ') += ']';
}

void ObjectText::pass_on(std::size_t most) {
  if (text_.size() > most) {
    sink_(text_);
    text_.clear();
  }
}

void ObjectText::member(std::string_view key, const Json& value) {
  begin_member(key);
  append(value, 1);
}

void ObjectText::member(std::string_view key, const Json& value, const ListBelow& list) {
  begin_member(key);
  append_object(value.as_object(), 1, list.pointer, &list);
}

void ObjectText::list(std::string_view key, std::size_t size,
                      const std::function<Json(std::size_t)>& element) {
  begin_member(key);
  append_list(
      size, [&](std::size_t i) { append(element(i), 2); }, 1);
}

void ObjectText::end() {
  assert(!empty_ && "an object of this kind has members");
  text_ += "\n}\n";
  pass_on(0);
}

} // namespace stepsim::io
