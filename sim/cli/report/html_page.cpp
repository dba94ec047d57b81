#include "cli/report/result_page.hpp"

#include "base/printable.hpp"
#include "plot/colours.hpp"
#include "plot/svg.hpp"

namespace stepsim::cli {

namespace {

constexpr std::string_view kPageHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
)";

constexpr std::string_view kStyle =
    R"(body { font: 16px/1.5 sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1, h2, p, li, summary { overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
.answer { font-size: 1.1rem; font-weight: bold; } .grey { color: var(--grey); }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; }
caption { text-align: left; padding: 0.2rem 0; }
th, td { border: 1px solid var(--line); padding: 0.2rem 0.6rem; text-align: right; white-space: nowrap; }
.word { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 7rem; }
svg { display: block; width: 100%; max-width: 640px; height: auto; margin: 1rem 0; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 0.85rem; }
a { color: var(--link); }
@page { size: A4; margin: 15mm; }
@media print {
  :root { --ink: #000; --paper: #fff; --grey: #444; --line: #999; --link: #000; }
  body { font-size: 10pt; max-width: none; padding: 0; }
  h2 { break-after: avoid; } svg, tr { break-inside: avoid; } th, td { white-space: normal; }
}
</style>
</head>
<body>
)";

// Text of users in one line, or in lines.
std::string shown(std::string_view text) { return base::escaped_markup(base::printable(text)); }

} // namespace

HtmlPage::HtmlPage(std::string_view title) : out_(kPageHead) {
  out_ += "<title>" + shown(title) + "</title>\n";
  out_ += "<style>\n" + plot::theme_style();
  out_.append(kStyle);
  out_ += "<h1>" + shown(title) + "</h1>\n";
}

void HtmlPage::heading(std::string_view text) { out_ += "<h2>" + shown(text) + "</h2>\n"; }

void HtmlPage::paragraph(std::string_view text, std::string_view kind) {
  out_ += kind.empty() ? "<p>" : "<p class=\"" + std::string(kind) + "\">";
  out_ += shown(text) + "</p>\n";
}

void HtmlPage::list(std::span<const std::string> entries) {
  out_ += "<ul>\n";
  for (const std::string& entry : entries) {
    out_ += "<li>" + shown(entry) + "</li>\n";
  }
  out_ += "</ul>\n";
}

void HtmlPage::table(const Table& table) {
  out_ += "<div class=\"wide\">\n" + table_html(table) + "</div>\n";
}

void HtmlPage::figure(const plot::Figure& figure, std::string_view id) {
  out_ += plot::inline_svg(figure, id);
}

void HtmlPage::open_details(std::string_view summary) {
  out_ += "<details>\n<summary>" + shown(summary) + "</summary>\n";
}

void HtmlPage::close_details() { out_ += "</details>\n"; }

void HtmlPage::text(std::string_view lines) {
  out_ += "<pre>" + base::escaped_markup(base::printable_lines(lines)) + "</pre>\n";
}

void HtmlPage::download(std::string_view label, std::string_view name, std::string_view content) {
  out_ += "<p><a download=\"" + shown(name) + "\" href=\"data:application/json," +
          base::percent_encoded(content, "-_.~:,/[]{}()!*") + "\">" + shown(label) + "</a></p>\n";
}

std::string HtmlPage::finished() && { return std::move(out_) + "</body>\n</html>\n"; }

} // namespace stepsim::cli
