// Members of an object are found by going through all of them: objects of files have few keys, and
// keep their order.
#include "json/json.hpp"
#include "json/json_pointer.hpp"

#include <algorithm>
#include <cassert>
#include <deque>
#include <unordered_set>

namespace stepsim::io {

// The origins of all values of a tree stand in one table, 32 bytes a value, with each key once.
// Values hold the whole table by the pointer to their own origin.
//     {"a": [5, 6]}    origins   root    "a"    0    1
//                      parents     -    root  "a"  "a"
struct Json::Origin {
  struct Table;
  Table* table{};
  const Origin* parent{};   // null for the root
  const std::string* key{}; // of a member; null for the root and for elements of lists
  std::uint32_t index{};    // of an element
  std::uint32_t line{};
};

struct Json::Origin::Table {
  struct Below {
    std::deque<Origin> origins; // their addresses stay
    std::unordered_set<std::string> keys;
  };
  std::shared_ptr<const std::string> file;
  std::string pointer; // of the root; "" for a file
  Origin root;
  std::unique_ptr<Below> below; // null while there is the root alone, as for values set by flags
  Below& steps() {
    if (!below) {
      below = std::make_unique<Below>();
    }
    return *below;
  }
};

// Not inline: GCC 12 sees uninitialised alternatives when it inlines moves of the variant.
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

bool Json::is_number() const { return is_integer() || std::holds_alternative<double>(value_); }

bool Json::as_bool() const {
  assert(is_bool() && "the value is true or false");
  return *std::get_if<bool>(&value_);
}
std::int64_t Json::as_integer() const {
  assert(is_integer() && "the value is an integer");
  return *std::get_if<std::int64_t>(&value_);
}
double Json::as_double() const {
  assert(is_number() && "the value is a number");
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) {
    return static_cast<double>(*integer);
  }
  return *std::get_if<double>(&value_);
}
const std::string& Json::as_string() const {
  assert(is_string() && "the value is a string");
  return *std::get_if<std::string>(&value_);
}
const Array& Json::as_array() const {
  assert(is_array() && "the value is a list");
  return *std::get_if<Array>(&value_);
}
const Object& Json::as_object() const {
  assert(is_object() && "the value is an object");
  return *std::get_if<Object>(&value_);
}
Array& Json::as_array() {
  assert(is_array() && "the value is a list");
  return *std::get_if<Array>(&value_);
}
Object& Json::as_object() {
  assert(is_object() && "the value is an object");
  return *std::get_if<Object>(&value_);
}

const Json* Json::find(std::string_view key) const {
  const auto* object = std::get_if<Object>(&value_);
  if (object == nullptr) {
    return nullptr;
  }
  const auto found = std::find_if(object->begin(), object->end(),
                                  [&](const Member& member) { return member.first == key; });
  return found == object->end() ? nullptr : &found->second;
}

Json* Json::find(std::string_view key) {
  return const_cast<Json*>(static_cast<const Json*>(this)->find(key));
}

Json& Json::set(std::string_view key, Json value) {
  if (is_null()) {
    value_ = Object{};
  }
  if (Json* present = find(key)) {
    return *present = std::move(value);
  }
  return as_object().emplace_back(key, std::move(value)).second;
}

std::string_view Json::file() const {
  return origin_ && origin_->table->file ? std::string_view(*origin_->table->file)
                                         : std::string_view();
}

// Put together when somebody asks, which is when something is wrong.
std::string Json::pointer() const {
  std::vector<const Origin*> steps; // from the value up, without the root
  const Origin* at = origin_.get();
  for (; at != nullptr && at->parent != nullptr; at = at->parent) {
    steps.push_back(at);
  }
  std::string pointer = at == nullptr ? "" : at->table->pointer;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    pointer += '/';
    const Origin& origin = **step;
    pointer += origin.key == nullptr ? std::to_string(origin.index) : escape_token(*origin.key);
  }
  return pointer;
}

std::int64_t Json::line() const { return origin_ ? origin_->line : 0; }

// Of a root, or of a value that takes another's place: the whole pointer, in a table of its own.
void Json::set_origin(std::shared_ptr<const std::string> file, std::string pointer,
                      std::int64_t line) {
  const auto table = std::make_shared<Origin::Table>();
  table->file = std::move(file);
  table->pointer = std::move(pointer);
  table->root.table = table.get();
  table->root.line = static_cast<std::uint32_t>(line);
  origin_ = {table, &table->root};
}

// One more step in the table of the parent: nobody else may read values of that tree meanwhile.
void Json::set_origin_below(const Json& parent, std::string_view key, std::int64_t line) {
  Origin::Table& table = *parent.origin_->table;
  Origin& origin = table.steps().origins.emplace_back();
  origin = {&table, parent.origin_.get(), &*table.below->keys.emplace(key).first, 0,
            static_cast<std::uint32_t>(line)};
  origin_ = {parent.origin_, &origin};
}

void Json::set_origin_below(const Json& parent, std::size_t index, std::int64_t line) {
  Origin::Table& table = *parent.origin_->table;
  Origin& origin = table.steps().origins.emplace_back();
  origin = {&table, parent.origin_.get(), nullptr, static_cast<std::uint32_t>(index),
            static_cast<std::uint32_t>(line)};
  origin_ = {parent.origin_, &origin};
}

std::shared_ptr<const std::string> Json::file_pointer() const {
  return origin_ ? origin_->table->file : nullptr;
}

} // namespace stepsim::io
