// The part of XML that topology dumps need: elements, attributes, comments, the five entities. No
// DTD, so that no entity can expand without limit, and depth, elements and attributes are bounded.
#include "import/nccl/xml.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace stepsim::io {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::size_t kMaxAttributes = 256;
constexpr std::array<std::pair<std::string_view, char>, 5> kEntities{
    {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};

bool is_blank(char c) { return kBlanks.find(c) != std::string_view::npos; }

// Letters beyond ASCII may stand in names, whatever they are.
bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool continues_name(char c) {
  return starts_name(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

class XmlParser {
public:
  XmlParser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  XmlElement document() {
    (void)take("\xef\xbb\xbf"); // byte order mark
    if (text_.starts_with("<?xml") && text_.size() > 5 && is_blank(text_[5])) {
      skip_past("?>", "the declaration");
    }
    skip_between();
    if (text_.empty()) {
      fail("no element");
    }
    XmlElement root = element(1);
    skip_between();
    if (!text_.empty()) {
      fail("a document has one outermost element, <" + shown(root.name) + "> is closed");
    }
    return root;
  }

private:
  // At the current line, or at the one where something began that has no end.
  [[noreturn]] void fail(const std::string& message) const { fail_at(line_, message); }
  [[noreturn]] void fail_at(std::int64_t line, const std::string& message) const {
    throw InputError(file_, std::to_string(line), message);
  }
  static std::string shown(std::string_view text) { return base::shown_value(text); }

  // Counts lines, which all errors name.
  void skip(std::size_t count) {
    line_ += std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(count), '\n');
    text_.remove_prefix(count);
  }
  bool take(std::string_view word) {
    const bool found = text_.starts_with(word);
    skip(found ? word.size() : 0);
    return found;
  }
  // Whether there were any.
  bool skip_blanks() {
    const std::size_t count = std::min(text_.find_first_not_of(kBlanks), text_.size());
    skip(count);
    return count > 0;
  }
  void skip_past(std::string_view end, const std::string& what) {
    const std::size_t at = text_.find(end);
    if (at == std::string_view::npos) {
      fail(what + " has no end");
    }
    skip(at + end.size());
  }

  // Blanks and comments; then a tag follows, or the end.
  void skip_between() {
    while (true) {
      skip_blanks();
      if (text_.empty()) {
        return;
      }
      if (!text_.starts_with('<')) {
        fail("text between elements is not supported: \"" +
             shown(text_.substr(0, text_.find_first_of("<\n"))) + '"');
      }
      if (text_.starts_with("<![CDATA[")) {
        fail("CDATA is not supported");
      }
      if (text_.starts_with("<?")) {
        fail("processing instructions are not supported");
      }
      if (!text_.starts_with("<!--")) {
        if (text_.starts_with("<!")) {
          fail("DTD is not supported");
        }
        return;
      }
      skip_past("-->", "a comment");
    }
  }

  // A name at the place where `what` is expected.
  std::string name(std::string_view what) {
    if (text_.empty()) {
      fail("unexpected end of input");
    }
    if (!starts_name(text_.front())) {
      fail(std::string(what) + " must start with a letter, got \"" + shown(text_.substr(0, 1)) +
           '"');
    }
    const auto* const end = std::find_if_not(text_.begin(), text_.end(), continues_name);
    std::string result(text_.begin(), end);
    skip(result.size());
    return result;
  }

  char entity() { // behind '&'
    for (const auto& [word, character] : kEntities) {
      if (take(std::string(word) + ';')) {
        return character;
      }
    }
    const std::size_t end = std::min(text_.find_first_of(";\"'<& \t\r\n"), text_.size());
    fail("unknown entity &" + shown(text_.substr(0, end)) +
         "; known are &amp; &lt; &gt; &quot; &apos;");
  }

  // In either quote; blanks of all kinds become spaces, as XML has it.
  std::string value(const std::string& attribute) {
    const char quote = text_.empty() ? '\0' : text_.front();
    if (quote != '"' && quote != '\'') {
      fail("attribute " + shown(attribute) + " must be in quotes");
    }
    const std::int64_t line = line_;
    skip(1);
    std::string result;
    while (!text_.empty() && text_.front() != quote) {
      const char next = text_.front();
      if (next == '<') {
        fail("attribute " + shown(attribute) + " must not hold '<': is a quote missing?");
      }
      if (!is_blank(next) && static_cast<unsigned char>(next) < 0x20) {
        fail("attribute " + shown(attribute) + " holds a control character");
      }
      skip(1);
      result += next == '&' ? entity() : is_blank(next) ? ' ' : next;
    }
    if (text_.empty()) {
      fail_at(line, "the value of attribute " + shown(attribute) + " has no end");
    }
    skip(1);
    return result;
  }

  // At '<'. Depth counts from 1.
  XmlElement element(std::size_t depth) {
    if (depth > kMaxXmlDepth) {
      fail("nested deeper than " + std::to_string(kMaxXmlDepth) + " levels");
    }
    if (++elements_ > kMaxXmlElements) {
      fail("more than " + std::to_string(kMaxXmlElements) + " elements");
    }
    XmlElement result;
    result.line = line_;
    skip(1);
    if (text_.starts_with('/')) {
      fail("a closing tag without an opening one");
    }
    result.name = name("the name of an element");
    const bool closed = attributes(result);
    if (!closed) {
      children(result, depth);
    }
    return result;
  }

  // Up to '>'; whether "/>" closed the element.
  bool attributes(XmlElement& result) {
    while (true) {
      const bool apart = skip_blanks();
      if (take(">")) {
        return false;
      }
      if (take("/>")) {
        return true;
      }
      if (text_.empty()) {
        fail_at(result.line, "the tag <" + shown(result.name) + "> has no end");
      }
      if (!apart) {
        fail("a blank must stand before an attribute, '>' or '/>' at the end of <" +
             shown(result.name) + '>');
      }
      std::string attribute = name("an attribute");
      skip_blanks();
      if (!take("=")) {
        fail("attribute " + shown(attribute) + " has no value");
      }
      skip_blanks();
      std::string text = value(attribute);
      if (result.find(attribute) != nullptr) {
        fail("attribute " + shown(attribute) + " appears twice");
      }
      if (result.attributes.size() == kMaxAttributes) {
        fail('<' + shown(result.name) + "> has more than " + std::to_string(kMaxAttributes) +
             " attributes");
      }
      result.attributes.emplace_back(std::move(attribute), std::move(text));
    }
  }

  // Until the closing tag of the parent, which has to be of its name.
  void children(XmlElement& parent, std::size_t depth) {
    while (true) {
      skip_between();
      if (text_.empty()) {
        fail_at(parent.line, '<' + shown(parent.name) + "> is never closed");
      }
      const std::int64_t line = line_;
      if (!take("</")) {
        parent.children.push_back(element(depth + 1));
        continue;
      }
      const std::string closed = name("the name of an element");
      skip_blanks();
      if (!take(">")) {
        fail_at(line, "the tag </" + shown(closed) + "> has no end");
      }
      if (closed != parent.name) {
        fail_at(line, "</" + shown(closed) + "> closes <" + shown(parent.name) + "> of line " +
                          std::to_string(parent.line));
      }
      return;
    }
  }

  std::string_view text_; // what is left
  const std::string& file_;
  std::int64_t line_ = 1;
  std::size_t elements_ = 0;
};

} // namespace

const std::string* XmlElement::find(std::string_view attribute) const {
  const auto at =
      std::ranges::find(attributes, attribute, [](const auto& each) { return each.first; });
  return at == attributes.end() ? nullptr : &at->second;
}

XmlElement parse_xml(std::string_view text, const std::string& file) {
  return XmlParser(text, file).document();
}

} // namespace stepsim::io
