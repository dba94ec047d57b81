#pragma once
// Writes JSON trees as text. Equal trees give equal texts, whatever the order of their members; a
// double is written with the fewest digits that read back to the same bits (asserted finite).
#include <cstddef>
#include <functional>

#include "document/json.hpp"

namespace stepsim::io {

// Sorted keys, indent of two spaces, newline at the end.
[[nodiscard]] std::string pretty(const Json& value);
// Appends the lines of pretty(value) at a depth, without the newline at the end.
void append_pretty(std::string& out, const Json& value, std::size_t depth);
// One line, sorted keys, no blanks, no newline.
[[nodiscard]] std::string compact(const Json& value);
// Appends compact(value) to `out`.
void append_compact(std::string& out, const Json& value);
// Throws SimulationError with the pointer of a NaN or infinite number of a result: JSON cannot hold
// it, and null would mean that the value does not exist.
void require_finite(const Json& result);

// Resolves JSON pointers (RFC 6901) through objects and lists.

// The value at the pointer, null if it does not exist. The empty pointer is the root. Throws
// UsageError for a text that is not a pointer.
[[nodiscard]] const Json* resolve(const Json& root, std::string_view pointer);
[[nodiscard]] Json* resolve(Json& root, std::string_view pointer);

// Sets the value at the pointer and returns a reference to it. Missing objects on the way are
// created. The value and the new objects get their pointer and the file of the root as origin, so
// that later errors name them. "-" or the length of an array appends to it. Throws UsageError for a
// text that is not a pointer, for any other token that is no element of an array, and for a token
// below a text, a number or a truth value; the tree is then unchanged.
Json& assign(Json& root, std::string_view pointer, Json value);

// Escapes a key as one token of a pointer: "a/b" -> "a~1b", "~" -> "~0".
[[nodiscard]] std::string escape_token(std::string_view token);
// The unescaped tokens: "/a~1b/0" -> {"a/b", "0"}; none for "". Throws UsageError for other texts
// that do not start with "/".
[[nodiscard]] std::vector<std::string> pointer_tokens(std::string_view pointer);

// Calls visit(leaf, pointer) for every value in the tree, which stands at `pointer`, that is
// neither an object nor a list. A visit may give it another value, which is not visited again.
template <class Tree, class Visit>
void for_each_leaf(Tree& tree, const std::string& pointer, const Visit& visit) {
  if (tree.is_object()) {
    for (auto& [key, member] : tree.as_object()) {
      for_each_leaf(member, pointer + "/" + escape_token(key), visit);
    }
  } else if (tree.is_array()) {
    std::size_t i = 0;
    for (auto& element : tree.as_array()) {
      for_each_leaf(element, pointer + "/" + std::to_string(i++), visit);
    }
  } else {
    visit(tree, pointer);
  }
}

// Parses texts and files into JSON trees. nlohmann/json does the work; only .cpp files include it.

class ByteSource;

// Limits on a text, because a small file can describe a very large tree.
struct ParseLimits {
  std::uint64_t max_bytes = std::uint64_t{8} << 30; // after inflation
  std::size_t max_depth = 256;                      // nested lists and objects
  std::size_t max_string = std::size_t{16} << 20;   // bytes of one text
  std::size_t max_values = 10'000'000;              // a tree takes about 150 bytes per value
};

// Parses a text. Throws InputError `FILE:LINE:COL: message`, LINE and COL (in bytes) being the
// start of the wrong word, for syntax errors, duplicate keys, NaN, infinities, numbers out of range
// of double, and a text beyond `limits` (max_bytes only in read_json).
[[nodiscard]] Json parse_json(std::string_view text, std::string_view file,
                              ParseLimits limits = {});
// Reads a source to its end, as a stream: memory grows with the tree, not with the file. Of
// `limits`, max_bytes is left to the source. Throws as parse_json() does.
[[nodiscard]] Json read_json(ByteSource& source, ParseLimits limits = {});
// Reads a file ("-" = standard input), gzip or not. `sha256`, if it is given, becomes the digest
// that sha256_of_file() gives, without a second reading. Throws as parse_json() does.
[[nodiscard]] Json read_json(const std::string& path, ParseLimits limits = {},
                             std::string* sha256 = nullptr);

// Writes a large JSON object as text member by member, so that neither its tree nor its text is in
// memory as a whole: the bytes are those of pretty() of the whole tree (json_text.hpp).

class ObjectText {
public:
  // `sink` gets the text in blocks of about 64 KiB.
  explicit ObjectText(std::function<void(std::string_view)> sink) : sink_(std::move(sink)) {}

  // Keys ascend and are unique (asserted). Throws SimulationError for a number that is not finite,
  // whose pointer is told from `value` on.
  void member(std::string_view key, const Json& value);
  // The same, but what stands at `list.pointer` below `value` is replaced by that list. Nothing is
  // replaced if `value` has nothing there.
  struct ListBelow {
    std::string_view pointer; // through objects, "/workload/layers"
    std::size_t size{};
    std::function<Json(std::size_t)> element;
  };
  void member(std::string_view key, const Json& value, const ListBelow& list);
  // A list of `size` elements, each of which is made when it is written.
  void list(std::string_view key, std::size_t size,
            const std::function<Json(std::size_t)>& element);
  void end(); // at least one member was written (asserted)

private:
  void begin_member(std::string_view key);
  void append(const Json& value, std::size_t depth);
  void append_object(const Object& object, std::size_t depth, std::string_view pointer,
                     const ListBelow* list);
  void append_list(std::size_t size, const std::function<void(std::size_t)>& append_element,
                   std::size_t depth);
  void pass_on(std::size_t most);

  std::function<void(std::string_view)> sink_;
  std::string text_; // not passed on yet
  std::string last_key_;
  bool empty_ = true;
};

} // namespace stepsim::io
