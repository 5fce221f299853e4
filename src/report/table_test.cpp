// SPDX-License-Identifier: Apache-2.0
#include "report/table.hpp"

#include "report/escape.hpp"
#include "report/units.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace kw {
namespace {

TEST(Table, AlignsNumbersRightAndLeavesNoTrailingBlanks) {
  Table table({{"name", Align::left, 8}, {"time", Align::right}, {"note", Align::left}});
  table.row({"short", "1.23 us", "x"});
  table.row({"a very long name", "118 ms", ""});
  table.row({"größe\x1b[2J", "4 ns", {"red", Colour::bad}});
  EXPECT_EQ(table.text(false, 2), "  name         time  note\n"
                                  "  short     1.23 us  x\n"
                                  "  a very …   118 ms\n"
                                  "  größe\\u…     4 ns  red\n");
  EXPECT_NE(table.text(true).find("\x1b[31mred\x1b[0m"), std::string::npos);
}

TEST(Table, WidthCountsWhatTheTerminalShows) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("größe"), 5u);
  EXPECT_EQ(display_width("\x1b[31mred\x1b[0m"), 3u);
  EXPECT_EQ(display_width("日本"), 4u);
  EXPECT_EQ(display_width("e\xcc\x81"), 1u);
  EXPECT_EQ(shorten("日本語", 4), "日…");
}

TEST(Units, HaveThreeDigitsAndAUnit) {
  EXPECT_EQ(duration_text(0.25), "0.25 ns");
  EXPECT_EQ(duration_text(812), "812 ns");
  EXPECT_EQ(duration_text(999.7), "1.00 us");
  EXPECT_EQ(duration_text(3421), "3.42 us");
  EXPECT_EQ(duration_text(9996), "10.0 us");
  EXPECT_EQ(duration_text(118.2e6), "118 ms");
  EXPECT_EQ(duration_text(5e12), "5000 s");
  EXPECT_EQ(duration_text(-1), "-");
  EXPECT_EQ(duration_text(std::numeric_limits<double>::infinity()), "-");
  EXPECT_EQ(ratio_text(1.3249), "1.32x");
  EXPECT_EQ(ratio_text(0.0123), "0.012x");
  EXPECT_EQ(ratio_text(123.4), "123x");
  EXPECT_EQ(interval_text(1.276, 1.364), "[1.28, 1.36]");
  EXPECT_EQ(percent_text(0.78), "78 %");
  EXPECT_EQ(percent_text(0.0495), "4.95 %");
  EXPECT_EQ(percent_text(0), "0 %");
  EXPECT_EQ(share_text(0.069), "6.9 %");
  EXPECT_EQ(share_text(0.784), "78 %");
  EXPECT_EQ(count_text(24576), "24,576");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(clock_text(300), "5:00");
  EXPECT_EQ(clock_text(3723), "1:02:03");
}

TEST(Escape, EachFormatHasItsOwn) {
  EXPECT_EQ(xml_text("a<b>&\"'\n\t\r\x01"), "a&lt;b&gt;&amp;&quot;&#39;\n\t\\u{1}");
  EXPECT_EQ(terminal_text("a\x1b[0m\tb\xc2\x9b"), "a\\u{1b}[0m    b\\u{9b}");
  EXPECT_EQ(markdown_text("*a_b* @me"), "\\*a\\_b\\* &#64;me");
  EXPECT_EQ(markdown_code("a`|\n"), "`a'\\| `");
  EXPECT_EQ(csv_text("-1+cmd\"x"), "\"'-1+cmd\"\"x\"");
  EXPECT_EQ(valid_utf8("ok \xff\xc0\xaf\xed\xa0\x80 \xf0\x9f\x98\x80"),
            "ok \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd "
            "\xf0\x9f\x98\x80");
  EXPECT_EQ(xml_text("\xe2\x80\xae"
                     "x\xe2\x80"),
            "\\u{202e}x\xef\xbf\xbd\xef\xbf\xbd");
}

} // namespace
} // namespace kw
