// pugixml reads the document; what it is more tolerant of than topology dumps need is refused here,
// in the order of the document. Nodes and attributes point into `buffer_`, a copy of the text in
// which they have the offsets of the text, so that every error can name its line.
#include "import/nccl/xml.hpp"

#include <pugixml.hpp>

#include <algorithm>
#include <array>
#include <new>

#include "base/error.hpp"

namespace stepsim::io {

namespace {

constexpr std::size_t kMaxAttributes = 256;
// Bounds the tree that pugixml makes before anything is refused, 64 bytes for each tag.
constexpr std::size_t kMaxTags = 4 * kMaxXmlElements;
constexpr std::array<std::string_view, 5> kEntities{"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
// Every kind of node is kept, also text outside the outermost element, to be refused by its name.
constexpr unsigned kParse = pugi::parse_full | pugi::parse_fragment | pugi::parse_trim_pcdata;

struct Refusal {
  pugi::xml_parse_status status;
  std::string_view message;
};
constexpr std::array kRefusals{
    Refusal{pugi::status_unrecognized_tag,
            "'<' begins neither an element, nor a closing tag, nor a comment"},
    Refusal{pugi::status_bad_pi, "a declaration or processing instruction has no end"},
    Refusal{pugi::status_bad_comment, "a comment has no end"},
    Refusal{pugi::status_bad_cdata, "CDATA is not supported"},
    Refusal{pugi::status_bad_doctype, "DTD is not supported"},
    Refusal{pugi::status_bad_start_element,
            "the tag must end in '>' or '/>' behind its attributes"},
    Refusal{pugi::status_bad_attribute,
            "an attribute must be NAME=\"VALUE\", with a blank before it"},
    Refusal{pugi::status_bad_end_element, "a closing tag must be </NAME>"},
};

// The node that was begun last.
pugi::xml_node last_node(pugi::xml_node node) {
  while (node.last_child()) {
    node = node.last_child();
  }
  return node;
}

class XmlReader {
public:
  XmlReader(std::string_view text, const std::string& file)
      : text_(text), file_(file), buffer_(text) {
    if (static_cast<std::size_t>(std::ranges::count(text, '<')) > kMaxTags) {
      fail(0, fmt::format("more than {} tags and comments", kMaxTags));
    }
    // pugixml overwrites the last byte it is given, so it is given the zero behind the text too.
    parsed_ = document_.load_buffer_inplace(buffer_.data(), buffer_.size() + 1, kParse,
                                            pugi::encoding_utf8);
    if (parsed_.status == pugi::status_out_of_memory) {
      throw std::bad_alloc();
    }
  }

  // The tree reaches up to the place where pugixml gave up: what is wrong before it is named first.
  XmlElement document() {
    if (const std::size_t at = text_.find('\0'); at != std::string_view::npos) {
      fail(at, "a zero byte is not a character of XML"); // pugixml takes it for the end
    }
    std::vector<XmlElement> roots;
    for (const pugi::xml_node& node : document_.children()) {
      if (is_declaration(node) || !is_element(node)) {
        continue;
      }
      if (!roots.empty()) {
        fail(place(node), fmt::format("a document has one outermost element, <{}> is closed",
                                      shown(roots.front().name)));
      }
      roots.push_back(element(node, 1));
    }
    if (!parsed_) {
      refuse();
    }
    if (roots.empty()) {
      fail(text_.size(), "no element");
    }
    return std::move(roots.front());
  }

private:
  [[nodiscard]] std::int64_t line(std::size_t at) const {
    return 1 + std::ranges::count(text_.substr(0, at), '\n');
  }
  [[noreturn]] void fail(std::size_t at, const std::string& message) const {
    throw InputError(file_, std::to_string(line(at)), message);
  }
  static std::string shown(std::string_view text) { return base::shown_value(text); }
  static std::size_t place(const pugi::xml_node& node) {
    return static_cast<std::size_t>(std::max(node.offset_debug(), std::ptrdiff_t{}));
  }

  // What pugixml stopped at.
  [[noreturn]] void refuse() const {
    const auto at = static_cast<std::size_t>(parsed_.offset);
    if (parsed_.status == pugi::status_end_element_mismatch) {
      refuse_closing_tag(at);
    }
    const pugi::xml_node last = last_node(document_);
    const auto* const row = std::ranges::find(kRefusals, parsed_.status, &Refusal::status);
    const std::string message(row == kRefusals.end() ? parsed_.description() : row->message);
    if (parsed_.status == pugi::status_bad_comment && last.type() == pugi::node_comment) {
      fail(place(last), message);
    }
    const bool in_tag = parsed_.status == pugi::status_bad_start_element ||
                        parsed_.status == pugi::status_bad_attribute;
    fail(at, in_tag ? fmt::format("in <{}>: {}", shown(last.name()), message) : message);
  }

  // The closing tag that `at` is in does not fit, or the text ends too early. The element that is
  // open there is the parent of a comment put in its place.
  [[noreturn]] void refuse_closing_tag(std::size_t at) const {
    const std::size_t last = std::min(text_.rfind('<', at), text_.size());
    const bool closing = text_.substr(last).starts_with("</") && text_.find('>', last) > at;
    const std::size_t tag = closing ? last : text_.size();
    const std::string before = std::string(text_.substr(0, tag)) + "<!---->";
    pugi::xml_document again;
    (void)again.load_buffer(before.data(), before.size(), kParse, pugi::encoding_utf8);
    const pugi::xml_node open = last_node(again).parent();
    if (!closing) {
      fail(place(open), fmt::format("<{}> is never closed", shown(open.name())));
    }
    if (open.type() == pugi::node_document) {
      fail(tag, "a closing tag without an opening one");
    }
    const std::size_t end = std::min(text_.find_first_of("> \t\r\n", tag), text_.size());
    fail(tag, fmt::format("{}> closes <{}> of line {}", shown(text_.substr(tag, end - tag)),
                          shown(open.name()), line(place(open))));
  }

  // "<?xml ...?>" as the first bytes of the text, apart from a byte order mark. Its attributes are
  // absent also where pugixml gave up in it.
  [[nodiscard]] bool is_declaration(const pugi::xml_node& node) const {
    return node.type() == pugi::node_declaration && (node.first_attribute() || !parsed_) &&
           std::string_view(node.name()) == "xml" &&
           place(node) == (text_.starts_with("\xef\xbb\xbf") ? 5 : 2);
  }

  // Whether it is one or a comment; there is nothing else in a dump.
  [[nodiscard]] bool is_element(const pugi::xml_node& node) const {
    const std::size_t at = place(node);
    switch (node.type()) {
    case pugi::node_element:
      return true;
    case pugi::node_null:
    case pugi::node_document:
    case pugi::node_comment:
      return false;
    case pugi::node_pcdata:
      fail(at, "text between elements is not supported: \"" +
                   shown(text_.substr(at, text_.find_first_of("<\n", at) - at)) + '"');
    case pugi::node_cdata:
      fail(at, "CDATA is not supported");
    case pugi::node_pi:
    case pugi::node_declaration:
      fail(at, "processing instructions are not supported");
    case pugi::node_doctype:
      fail(at, "DTD is not supported");
    }
    return false;
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
      check_value(attribute);
      const auto at = static_cast<std::size_t>(attribute.name() - buffer_.data());
      if (result.find(attribute.name()) != nullptr) {
        fail(at, fmt::format("attribute {} appears twice", shown(attribute.name())));
      }
      if (result.attributes.size() == kMaxAttributes) {
        fail(at,
             fmt::format("<{}> has more than {} attributes", shown(result.name), kMaxAttributes));
      }
      result.attributes.emplace_back(attribute.name(), attribute.value());
    }
    for (const pugi::xml_node& child : node.children()) {
      if (is_element(child)) {
        result.children.push_back(element(child, depth + 1));
      }
    }
    return result;
  }

  // As the value stands in the text, between its quotes: pugixml lets '<' pass, control characters
  // and unknown entities, and would replace numbered characters.
  void check_value(const pugi::xml_attribute& attribute) const {
    if (*attribute.value() == '\0') {
      return; // also a value that pugixml did not reach
    }
    const auto begin = static_cast<std::size_t>(attribute.value() - buffer_.data());
    const std::size_t end = std::min(text_.find(text_[begin - 1], begin), text_.size());
    for (std::size_t at = begin; at < end; ++at) {
      const char c = text_[at];
      if (c == '<') {
        fail(at, fmt::format("attribute {} must not hold '<': is a quote missing?",
                             shown(attribute.name())));
      }
      if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\r' && c != '\n') {
        fail(at, fmt::format("attribute {} holds a control character", shown(attribute.name())));
      }
      const std::string_view rest = text_.substr(at);
      if (c == '&' && std::ranges::none_of(kEntities, [&](std::string_view entity) {
            return rest.starts_with(entity);
          })) {
        fail(at, "unknown entity " + shown(rest.substr(0, rest.find_first_of(";\"'<& \t\r\n", 1))) +
                     "; known are &amp; &lt; &gt; &quot; &apos;");
      }
    }
  }

  std::string_view text_;
  const std::string& file_;
  std::string buffer_;
  pugi::xml_document document_;
  pugi::xml_parse_result parsed_;
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
