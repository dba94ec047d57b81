// Members of an object are found by going through all of them: objects of files have few keys, and
// keep their order.
#include "json/json.hpp"
#include "json/json_pointer.hpp"

#include <algorithm>
#include <cassert>

namespace stepsim::io {

struct Json::Origin {
  std::shared_ptr<const Origin> parent; // null for the root of a file
  std::shared_ptr<const std::string> file;
  std::string text;        // key in the parent; without a parent a whole pointer
  std::int64_t index = -1; // in the parent, which is a list, if not negative
  std::int64_t line{};
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
  return origin_ && origin_->file ? std::string_view(*origin_->file) : std::string_view();
}

// Put together when somebody asks, which is when something is wrong.
std::string Json::pointer() const {
  std::vector<const Origin*> steps; // from the value up
  for (const Origin* at = origin_.get(); at != nullptr; at = at->parent.get()) {
    steps.push_back(at);
  }
  std::string pointer;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const Origin& origin = **step;
    if (!origin.parent) {
      pointer = origin.text;
    } else {
      pointer += '/';
      pointer += origin.index >= 0 ? std::to_string(origin.index) : escape_token(origin.text);
    }
  }
  return pointer;
}

std::int64_t Json::line() const { return origin_ ? origin_->line : 0; }

// Of a root, or of a value that takes another's place: the whole pointer.
void Json::set_origin(std::shared_ptr<const std::string> file, std::string pointer,
                      std::int64_t line) {
  origin_ = std::make_shared<const Origin>(
      Origin{nullptr, std::move(file), std::move(pointer), -1, line});
}

// One step: the origin of the parent is shared by all its members.
void Json::set_origin_below(const Json& parent, std::string_view key, std::int64_t line) {
  origin_ = std::make_shared<const Origin>(
      Origin{parent.origin_, parent.file_pointer(), std::string(key), -1, line});
}

void Json::set_origin_below(const Json& parent, std::size_t index, std::int64_t line) {
  origin_ = std::make_shared<const Origin>(
      Origin{parent.origin_, parent.file_pointer(), "", static_cast<std::int64_t>(index), line});
}

std::shared_ptr<const std::string> Json::file_pointer() const {
  return origin_ ? origin_->file : nullptr;
}

} // namespace stepsim::io
