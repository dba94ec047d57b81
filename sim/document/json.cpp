// Members of an object are found by going through all of them: objects of files have few keys, and
// keep their order.
#include "document/json.hpp"

#include <algorithm>
#include <cassert>
#include <unordered_map>

#include "document/json_text.hpp"

namespace stepsim::io {

// The origins of all values of a tree stand in one table, 16 bytes a value, with each key once.
// Values hold the whole table by the pointer to their own origin.
//     {"a": [5, 6]}    origins   root    "a"    0    1
//                      parents     -    root  "a"  "a"
struct Json::Origin {
  struct Table;
  static constexpr std::uint32_t kKey = 1U << 31;

  const Origin* parent{}; // null for the root, which is the table
  std::uint32_t step{};   // index of an element, or kKey + number of the key of a member
  std::uint32_t line{};

  // Gives `value` an origin below that of `parent`.
  static void add(Json& value, const Json& parent, std::uint32_t step, std::int64_t line);
};

struct Json::Origin::Table : Origin {
  // Origins below the root. Their addresses stay, because a full block is left as it is. Blocks
  // double up to 128 KiB, for which allocators take pages of their own: the origins then do not lie
  // between the values of the tree, whose memory is free as a whole when the values are gone.
  class Below {
  public:
    Origin& add() {
      if (used_ == size_) {
        size_ = std::clamp<std::size_t>(2 * size_, 16, kLargest);
        blocks_.push_back(std::make_unique<Origin[]>(size_));
        used_ = 0;
      }
      return blocks_.back()[used_++];
    }
    std::uint32_t number_of(std::string_view key) {
      const auto [found, is_new] =
          numbers_.try_emplace(std::string(key), static_cast<std::uint32_t>(keys_.size()));
      if (is_new) {
        keys_.push_back(&found->first);
      }
      return found->second;
    }
    [[nodiscard]] const std::string& key(std::uint32_t number) const { return *keys_[number]; }

  private:
    static constexpr std::size_t kLargest = (std::size_t{1} << 17) / sizeof(Origin);
    std::vector<std::unique_ptr<Origin[]>> blocks_;
    std::size_t used_ = 0, size_ = 0; // of the last block
    std::unordered_map<std::string, std::uint32_t> numbers_;
    std::vector<const std::string*> keys_; // [number]
  };
  std::shared_ptr<const std::string> file;
  std::string pointer; // of the root; "" for a file
  // Null while there is the root alone, as for values set by flags.
  mutable std::unique_ptr<Below> below;

  // The table of any origin in it.
  [[nodiscard]] static const Table& of(const Origin& origin) {
    const Origin* root = &origin;
    while (root->parent != nullptr) {
      root = root->parent;
    }
    return static_cast<const Table&>(*root);
  }
  [[nodiscard]] Below& steps() const {
    if (!below) {
      below = std::make_unique<Below>();
    }
    return *below;
  }
};

// Not inline: GCC 12 sees uninitialised alternatives when it inlines moves of the variant.
// Copies are made by alternative: if memory ends while libstdc++ 12 copies a variant of types that
// it counts as never leaving it without a value, it destroys a value that was not made.
Json::Json(const Json& other)
    : value_(std::visit([](const auto& value) { return Value(value); }, other.value_)),
      origin_(other.origin_) {}
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json& other) { return *this = Json(other); }
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

bool Json::is_number() const { return is_integer() || std::holds_alternative<double>(value_); }

namespace {

// The value as the kind that it has; of constant values a constant one.
template <class Kind, class Value> auto& held(Value& value) {
  assert(std::holds_alternative<Kind>(value) && "the value is of the kind that is asked for");
  return *std::get_if<Kind>(&value);
}

} // namespace

bool Json::as_bool() const { return held<bool>(value_); }
std::int64_t Json::as_integer() const { return held<std::int64_t>(value_); }
double Json::as_double() const {
  return is_integer() ? static_cast<double>(as_integer()) : held<double>(value_);
}
const std::string& Json::as_string() const { return held<std::string>(value_); }
const Array& Json::as_array() const { return held<Array>(value_); }
const Object& Json::as_object() const { return held<Object>(value_); }
Array& Json::as_array() { return held<Array>(value_); }
Object& Json::as_object() { return held<Object>(value_); }

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

std::string Json::text(std::string_view key) const {
  const Json* value = find(key);
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
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
  const std::string* name = origin_ ? Origin::Table::of(*origin_).file.get() : nullptr;
  return name != nullptr ? std::string_view(*name) : std::string_view();
}

// Put together when somebody asks, which is when something is wrong.
std::string Json::pointer() const {
  if (!origin_) {
    return "";
  }
  std::vector<std::uint32_t> steps; // from the value up
  for (const Origin* at = origin_.get(); at->parent != nullptr; at = at->parent) {
    steps.push_back(at->step);
  }
  const Origin::Table& table = Origin::Table::of(*origin_);
  std::string pointer = table.pointer;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    pointer += '/';
    pointer += *step < Origin::kKey ? std::to_string(*step)
                                    : escape_token(table.below->key(*step - Origin::kKey));
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
  table->line = static_cast<std::uint32_t>(line);
  origin_ = table;
}

// One more step in the table of the parent: nobody else may read values of that tree meanwhile.
void Json::Origin::add(Json& value, const Json& parent, std::uint32_t step, std::int64_t line) {
  Origin& origin = Table::of(*parent.origin_).steps().add();
  origin = {parent.origin_.get(), step, static_cast<std::uint32_t>(line)};
  value.origin_ = {parent.origin_, &origin};
}

void Json::set_origin_below(const Json& parent, std::string_view key, std::int64_t line) {
  Origin::Table::Below& steps = Origin::Table::of(*parent.origin_).steps();
  Origin::add(*this, parent, Origin::kKey + steps.number_of(key), line);
}

void Json::set_origin_below(const Json& parent, std::size_t index, std::int64_t line) {
  assert(index < Origin::kKey && "a list of a file has fewer elements");
  Origin::add(*this, parent, static_cast<std::uint32_t>(index), line);
}

std::shared_ptr<const std::string> Json::file_pointer() const {
  return origin_ ? Origin::Table::of(*origin_).file : nullptr;
}

} // namespace stepsim::io
