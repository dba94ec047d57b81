// pugixml reads the document; what would be lost in silence is refused here.
#include "import/nccl/xml.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <pugixml.hpp>

#include "base/error.hpp"

namespace stepsim::io {

namespace {

// Bounds the tree that pugixml makes before anything is refused, 64 bytes for each tag.
constexpr std::size_t kMaxTags = 4 * kMaxXmlElements;

class XmlReader {
public:
  XmlReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  XmlElement document() {
    if (static_cast<std::size_t>(std::ranges::count(text_, '<')) > kMaxTags) {
      fail(0, fmt::format("more than {} tags and comments", kMaxTags));
    }
    if (const std::size_t at = text_.find('\0'); at != std::string_view::npos) {
      fail(at, "a zero byte is not a character of XML"); // pugixml takes it for the end
    }
    pugi::xml_document document;
    const pugi::xml_parse_result parsed =
        document.load_buffer(text_.data(), text_.size(), pugi::parse_default, pugi::encoding_utf8);
    if (!parsed) {
      fail(static_cast<std::size_t>(parsed.offset),
           fmt::format("this is not XML, says its parser: {}", parsed.description()));
    }
    const pugi::xml_node root = document.document_element();
    if (const pugi::xml_node other = root.next_sibling()) {
      fail(place(other), fmt::format("a document has one outermost element, <{}> is closed",
                                     base::shown_value(root.name())));
    }
    return element(root, 1);
  }

private:
  [[noreturn]] void fail(std::size_t at, const std::string& message) const {
    throw InputError(file_, std::to_string(1 + std::ranges::count(text_.substr(0, at), '\n')),
                     message);
  }
  static std::size_t place(const pugi::xml_node& node) {
    return static_cast<std::size_t>(std::max(node.offset_debug(), std::ptrdiff_t{}));
  }

  // Depth counts from 1.
  XmlElement element(const pugi::xml_node& node, std::size_t depth) {
    if (depth > kMaxXmlDepth) {
      fail(place(node), fmt::format("nested deeper than {} levels", kMaxXmlDepth));
    }
    if (++elements_ > kMaxXmlElements) {
      fail(place(node), fmt::format("more than {} elements", kMaxXmlElements));
    }
    line_ += std::ranges::count(text_.substr(counted_, place(node) - counted_), '\n');
    counted_ = place(node);
    XmlElement result{node.name(), line_, {}, {}};
    for (const pugi::xml_attribute& attribute : node.attributes()) {
      result.attributes.emplace_back(attribute.name(), attribute.value());
    }
    for (const pugi::xml_node& child : node.children()) {
      if (child.type() == pugi::node_element) {
        result.children.push_back(element(child, depth + 1));
      }
    }
    return result;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t elements_ = 0;
  std::size_t counted_ = 0; // bytes whose lines are in line_
  std::int64_t line_ = 1;
};

} // namespace

const std::string* XmlElement::find(std::string_view attribute) const {
  const auto at =
      std::ranges::find(attributes, attribute, [](const auto& each) { return each.first; });
  return at == attributes.end() ? nullptr : &at->second;
}

XmlElement parse_xml(std::string_view text, const std::string& file) {
  return XmlReader(text, file).document();
}

} // namespace stepsim::io
