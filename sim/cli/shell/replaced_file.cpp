// One pass over the bytes that follows strings and brackets only: syntax errors do not matter here,
// since a file that cannot be parsed is no result of ours either.
#include "cli/shell/output.hpp"

#include "document/file.hpp"

namespace stepsim::cli {

namespace {

// Follows one JSON value until it ends. Texts at depth 1 of an object are keys, or values of keys.
class KindScan {
public:
  // False once the kind is known or the value has ended.
  bool feed(std::string_view bytes) {
    for (const char c : bytes) {
      if (is_done_) {
        return false;
      }
      in_text_ ? take_in_text(c) : take(c);
    }
    return !is_done_;
  }
  [[nodiscard]] std::string result() const {
    return !kind_.empty() ? "kind " + kind_ : first_key_.empty() ? "" : "key " + first_key_;
  }

private:
  void take_in_text(char c) {
    constexpr std::size_t kKept = 60; // longer texts are no words of ours
    const bool ends = c == '"' && !escaped_;
    escaped_ = c == '\\' && !escaped_;
    if (!ends) {
      text_.append(text_.size() < kKept ? 1 : 0, c);
      return;
    }
    in_text_ = false;
    if (depth_ == 1 && key_ == "kind") {
      kind_ = text_;
      is_done_ = true;
    }
  }

  void take(char c) {
    if (c == '"') {
      in_text_ = true;
      text_.clear();
    } else if (c == ':' && depth_ == 1) {
      key_ = text_;
      first_key_ = first_key_.empty() ? key_ : first_key_;
    } else if (c == ',' && depth_ == 1) {
      key_.clear();
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (c == '}' || c == ']') {
      is_done_ = --depth_ <= 0;
    }
  }

  int depth_ = 0;
  bool in_text_ = false;
  bool escaped_ = false;
  bool is_done_ = false;
  std::string text_, key_, first_key_, kind_;
};

// `next` gives pieces, an empty one at the end.
template <class Next> std::string kind_of_pieces(const Next& next) {
  std::string_view piece = next();
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
    break;
  default:
    return piece.substr(0, kHead).find('\0') == std::string_view::npos ? "text" : "binary data";
  }
  KindScan scan;
  while (!piece.empty() && scan.feed(piece)) {
    piece = next();
  }
  return scan.result();
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
  const std::string there = kind_of_file(path);
  if (!there.empty() && there != content_kind(text)) {
    throw UsageError(base::shown_value(path, 200) + ": holds another kind of file (" +
                     base::shown_value(there) + "); --force replaces it");
  }
}

} // namespace stepsim::cli
