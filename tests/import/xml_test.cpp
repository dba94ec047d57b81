#include "import/nccl/xml.hpp"

#include <doctest/doctest.h>

#include "base/error.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

std::string failure(std::string_view text) {
  try {
    (void)parse_xml(text, "t.xml");
  } catch (const InputError& error) {
    CHECK(error.problems().size() == 1);
    const std::string what = error.what();
    CHECK(what.starts_with("t.xml:"));
    return what.substr(6);
  }
  return "no error";
}

const std::string kAttribute =
    "in <a>: an attribute must be NAME=\"VALUE\", with a blank before it";

std::string repeated(std::string_view part, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) {
    text += part;
  }
  return text;
}

// "<a x="1"><b/></a>": the tree in one line, with lines of tags as NAME@LINE.
std::string shape(const XmlElement& element) {
  std::string text = element.name + '@' + std::to_string(element.line);
  for (const auto& [name, value] : element.attributes) {
    text += ' ' + name + '=' + value;
  }
  if (!element.children.empty()) {
    text += " (";
    for (const XmlElement& child : element.children) {
      text += shape(child) + ';';
    }
    text += ')';
  }
  return text;
}

} // namespace

TEST_CASE("xml: elements, attributes in either quotes, nesting, lines") {
  CHECK(shape(parse_xml("<a/>", "")) == "a@1");
  CHECK(shape(parse_xml("<a x='1' y = \"2\" />", "")) == "a@1 x=1 y=2");
  CHECK(shape(parse_xml("<a>\n <b k=\"'\"/>\r\n\t<c k='\"'></c >\n</a>\n", "")) ==
        "a@1 (b@2 k=';c@3 k=\";)");
  CHECK(shape(parse_xml("<a\n x='1'\n><b/></a>", "")) == "a@1 x=1 (b@3;)");
}

TEST_CASE("xml: declaration, byte order mark and comments are skipped, the lines count on") {
  CHECK(shape(parse_xml("\xef\xbb\xbf<?xml version='1.0' encoding='UTF-8'?>\n<!-- <b> & -- \n-->"
                        "<a><!----><b/></a><!-- end -->",
                        "")) == "a@3 (b@3;)");
}

TEST_CASE("xml: the five entities; blanks in values become spaces") {
  const XmlElement root = parse_xml("<a t='&lt;&gt;&amp;&quot;&apos;' u='1\n2\r\n3'/>", "");
  CHECK(*root.find("t") == "<>&\"'");
  CHECK(*root.find("u") == "1 2 3");
  CHECK(root.find("v") == nullptr);
}

TEST_CASE("xml: what is not in the subset is refused by its name") {
  CHECK(failure("<!DOCTYPE a [<!ENTITY b 'c'>]><a/>") == "1: DTD is not supported");
  CHECK(failure("\n<a><!ELEMENT b></a>") ==
        "2: '<' begins neither an element, nor a closing tag, nor a comment");
  CHECK(failure("<a><![CDATA[x]]></a>") == "1: CDATA is not supported");
  CHECK(failure("<a><?php ?></a>") == "1: processing instructions are not supported");
  CHECK(failure("<a>\nhello <b/></a>") == "2: text between elements is not supported: \"hello \"");
  CHECK(failure("<a t='&#65;'/>") ==
        "1: unknown entity &#65; known are &amp; &lt; &gt; &quot; &apos;");
  CHECK(failure("<a t='&nbsp;'/>") ==
        "1: unknown entity &nbsp; known are &amp; &lt; &gt; &quot; &apos;");
}

TEST_CASE("xml: tags that do not fit are named with their lines") {
  CHECK(failure("<pci>\n<gpu>\n</pci>") == "3: </pci> closes <gpu> of line 2");
  CHECK(failure("<a>\n<b>\n") == "2: <b> is never closed");
  CHECK(failure("</a>") == "1: a closing tag without an opening one");
  CHECK(failure("<a/>\n<b/>") == "2: a document has one outermost element, <a> is closed");
  CHECK(failure("") == "1: no element");
  CHECK(failure("<!-- -->\n") == "2: no element");
  CHECK(failure("hello") == "1: text between elements is not supported: \"hello\"");
}

TEST_CASE("xml: what ends too early says where it began") {
  CHECK(failure("<a>\n<!-- <b/>") == "2: a comment has no end");
  CHECK(failure("<?xml version='1.0'") == "1: a declaration or processing instruction has no end");
  CHECK(failure("<a\nx='1'") == "2: in <a>: the tag must end in '>' or '/>' behind its attributes");
  CHECK(failure("<a>\n</a") == "2: a closing tag must be </NAME>");
  CHECK(failure("<a\nx='1\n") == "2: " + kAttribute);
  CHECK(failure("<") == "1: '<' begins neither an element, nor a closing tag, nor a comment");
  CHECK(failure("<a></") == "1: </> closes <a> of line 1");
}

TEST_CASE("xml: what pugixml would let pass is refused") {
  CHECK(failure(std::string_view("<a/>\n\0", 6)) == "2: a zero byte is not a character of XML");
  CHECK(failure("<a t='x&#65'/>").starts_with("1: unknown entity &#65;"));
  for (const char* declaration : {"\n<?xml version='1.0'?><a/>", "<a/>\n<?xml version='1.0'?>",
                                  "<?xml?>\n<a/>", "<?XML version='1.0'?><a/>"}) {
    CHECK(failure(declaration).ends_with(": processing instructions are not supported"));
  }
  CHECK(failure(std::string_view("\xff\xfe<\0a\0/\0>\0", 10)) ==
        "1: a zero byte is not a character of XML"); // UTF-16
}

TEST_CASE("xml: a comment and a declaration have the form that XML gives them") {
  CHECK(failure("<a/>\n<!-->") == "2: a comment has no end");
  CHECK(failure("<?xml version=1.0?><a/>") ==
        "1: in <xml>: an attribute must be NAME=\"VALUE\", with a blank before it");
}

TEST_CASE("xml: attributes need a name, a value in quotes, a blank before them, once") {
  CHECK(failure("<a x/>") == "1: " + kAttribute);
  CHECK(failure("<a x=1/>") == "1: " + kAttribute);
  CHECK(failure("<a x='1'y='2'/>") == "1: " + kAttribute);
  CHECK(failure("<a x='1'\nx='2'/>") == "2: attribute x appears twice");
  CHECK(failure("<a 1='2'/>") ==
        "1: in <a>: the tag must end in '>' or '/>' behind its attributes");
  CHECK(failure("< a/>") == "1: '<' begins neither an element, nor a closing tag, nor a comment");
  CHECK(failure("<a x='1>\n<b y='2'/>") == "2: attribute x must not hold '<': is a quote missing?");
  CHECK(failure("<a x='\x01'/>") == "1: attribute x holds a control character");
}

TEST_CASE("xml: depth, number of elements and of attributes are limited") {
  const auto nested = [](std::size_t depth) {
    return repeated("<a>", depth) + repeated("</a>", depth);
  };
  CHECK_NOTHROW((void)parse_xml(nested(kMaxXmlDepth), ""));
  CHECK(failure(nested(kMaxXmlDepth + 1)) == "1: nested deeper than 64 levels");
  CHECK(failure(nested(100'000)) == "1: nested deeper than 64 levels");
  CHECK(failure(nested(1'000'000)) == "1: more than 262144 tags and comments");
  CHECK_NOTHROW((void)parse_xml("<r>" + repeated("<a/>", kMaxXmlElements - 1) + "</r>", ""));
  CHECK(failure("<r>" + repeated("<a/>", kMaxXmlElements) + "</r>") ==
        "1: more than 65536 elements");
  std::string many = "<a";
  for (int i = 0; i < 257; ++i) {
    many += " x" + std::to_string(i) + "=''";
  }
  CHECK(failure(many + "/>") == "1: <a> has more than 256 attributes");
}
