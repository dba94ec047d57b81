// One pass over the bytes that follows strings and brackets only: syntax errors do not matter here,
// since a file that cannot be parsed is no result of ours either.
#include "cli/shell/output.hpp"

#include "document/file.hpp"

namespace stepsim::cli {

namespace {

// Of an object the word of its kind, else its first key. `next` gives pieces, an empty one at the
// end; the first one is `piece`. Texts at depth 1 are keys, or values of keys.
template <class Next> std::string kind_of_object(std::string_view piece, const Next& next) {
  constexpr std::size_t kKept = 60; // longer texts are no words of ours
  int depth = 0;
  bool in_text = false;
  bool escaped = false;
  std::string text;
  std::string key;
  std::string first;
  for (; !piece.empty(); piece = next()) {
    for (const char c : piece) {
      const bool quote = c == '"' && !escaped;
      escaped = in_text && c == '\\' && !escaped;
      if (in_text && !quote) {
        text.append(text.size() < kKept ? 1 : 0, c);
      } else if (in_text && depth == 1 && key == "kind") {
        return text.empty() ? first : "kind " + text;
      } else if (quote) {
        if (!in_text) {
          text.clear();
        }
        in_text = !in_text;
      } else if (c == ':' && depth == 1) {
        key = text;
        first = first.empty() ? "key " + key : first;
      } else if (c == ',' && depth == 1) {
        key.clear();
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if ((c == '}' || c == ']') && --depth <= 0) {
        return first;
      }
    }
  }
  return first;
}

// `next` gives pieces, an empty one at the end.
template <class Next> std::string kind_of_pieces(const Next& next) {
  const std::string_view piece = next();
  if (piece.empty()) {
    return "";
  }
  constexpr std::size_t kHead = 4096;
  const std::size_t begin = std::min(piece.find_first_not_of(" \t\r\n"), piece.size() - 1);
  switch (piece[begin]) {
  case '[':
    return "a list";
  case '<':
    return piece.substr(begin).starts_with("<svg") ? "a picture" : "a page";
  case '{':
    return kind_of_object(piece, next);
  default:
    return piece.substr(0, kHead).find('\0') == std::string_view::npos ? "text" : "binary data";
  }
}

// A file that cannot be read, or inflated, is none of ours.
std::string kind_of_file(const std::string& path) {
  try {
    io::ByteSource source(path);
    return kind_of_pieces([&] { return source.next(); });
  } catch (const InputError&) {
    return "binary data";
  }
}

} // namespace

std::string content_kind(std::string_view text) {
  return kind_of_pieces([&] { return std::exchange(text, {}); });
}

// An empty file has nothing to lose, and what is written where it stands replaces nothing: pipes,
// descriptors.
void refuse_other_kind(const Common& common, const std::string& path, std::string_view text) {
  if (common.force || !io::is_regular(path) || !io::is_replaceable(path)) {
    return;
  }
  if (const std::string there = kind_of_file(path); !there.empty() && there != content_kind(text)) {
    throw UsageError(base::shown_value(path, 200) + ": holds another kind of file (" +
                     base::shown_value(there) + "); --force replaces it");
  }
}

} // namespace stepsim::cli
