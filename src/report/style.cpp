// SPDX-License-Identifier: Apache-2.0
#include "report/style.hpp"

namespace kw {

// Contrast of text on its background is at least 4.5 : 1 in both schemes. The colours of series
// differ in lightness too, so that they survive colour blindness and grey printing.
std::string_view palette_css() {
  return R"css(
:root{color-scheme:light dark;
--page:#f6f7f9;--surface:#ffffff;--raised:#f1f4f8;--ink:#171b21;--muted:#59636f;--line:#dde2e9;
--grid:#e9edf2;--accent:#0b63ce;--accent-soft:#d9e8fb;--good:#157f3c;--good-soft:#dcf3e3;--bad:#c2252e;
--bad-soft:#fbe3e4;--warn:#8a5a00;--warn-soft:#fbefd2;--peer0:#8a3ffc;--peer1:#b8500a;--peer2:#00767a;--peer3:#5b6470}
@media (prefers-color-scheme:dark){:root{
--page:#0e1116;--surface:#161b22;--raised:#1d242d;--ink:#e8edf3;--muted:#9aa5b1;--line:#2c343e;
--grid:#222932;--accent:#62aeff;--accent-soft:#16304f;--good:#4cc26e;--good-soft:#143121;--bad:#ff7b78;
--bad-soft:#3d1a1c;--warn:#e0ad3e;--warn-soft:#37290c;--peer0:#c29bff;--peer1:#ff9d5c;--peer2:#4fd0d2;--peer3:#a3adb8}}
)css";
}

std::string_view chart_css() {
  return R"css(
.chart{font-family:ui-sans-serif,system-ui,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-size:12px}
.chart text{fill:var(--muted)}
.chart .surface{fill:var(--surface)}
.chart .strong{fill:var(--ink);font-weight:600}
.chart .name{fill:var(--ink)}
.chart .small{font-size:11px}
.chart .grid{stroke:var(--grid);stroke-width:1}
.chart .axis{stroke:var(--line);stroke-width:1}
.chart .one{stroke:var(--muted);stroke-width:1.2}
.chart .effect{stroke:var(--muted);stroke-width:1;stroke-dasharray:3 3}
.chart .best{stroke:var(--accent);stroke-width:2.2;fill:none;stroke-linejoin:round}
.chart .promote{fill:var(--accent);stroke:var(--surface);stroke-width:1.5}
.chart .keep{fill:var(--good);stroke:var(--surface);stroke-width:1}
.chart .reject{fill:var(--surface);stroke:var(--muted);stroke-width:1.3}
.chart .fail{stroke:var(--bad);stroke-width:1.6;fill:none}
.chart .lane{fill:var(--raised)}
.chart .track{fill:var(--raised)}
.chart .bar{fill:var(--accent)}
.chart .bar-slow{fill:var(--bad)}
.chart .bar-even{fill:var(--muted)}
.chart .halo{stroke:var(--surface);stroke-width:4}
.chart .whisker{stroke:var(--ink);stroke-width:1.4}
.chart .bound{stroke:var(--ink);stroke-width:2;stroke-dasharray:2 2}
.chart .peer0{fill:var(--peer0)}
.chart .peer1{fill:var(--peer1)}
.chart .peer2{fill:var(--peer2)}
.chart .peer3{fill:var(--peer3)}
.chart .peer0,.chart .peer1,.chart .peer2,.chart .peer3{stroke:var(--surface);stroke-width:1.2}
.chart .band{fill:var(--accent-soft)}
.chart .median{stroke:var(--accent);stroke-width:1.6}
.chart .round{fill:var(--accent);fill-opacity:.75}
)css";
}

std::string_view page_css() {
  return R"css(
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.55 ui-sans-serif,system-ui,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1080px;margin:0 auto;padding:32px 20px 56px}
header{margin-bottom:20px}
h1{font-size:26px;line-height:1.25;margin:2px 0 6px;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{font-size:17px;margin:0 0 4px}
h3{font-size:14px;margin:18px 0 6px}
p{margin:4px 0 12px}
.eyebrow{color:var(--muted);font-size:13px;margin:0}
.sub{color:var(--muted);max-width:80ch;overflow-wrap:anywhere}
section{background:var(--surface);border:1px solid var(--line);border-radius:12px;padding:20px 22px;margin:16px 0}
.hero{display:grid;grid-template-columns:minmax(240px,1.1fr) 2fr;gap:24px;align-items:center}
.figure{font-size:54px;line-height:1;font-weight:650;letter-spacing:-.03em;font-variant-numeric:tabular-nums}
.interval{font-size:17px;color:var(--muted);font-weight:400;letter-spacing:0;white-space:nowrap}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:10px;margin:0}
.tiles div{background:var(--raised);border-radius:8px;padding:10px 12px}
.tiles dt{color:var(--muted);font-size:12px}
.tiles dd{margin:2px 0 0;font-weight:600;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.tiles small{display:block;font-weight:400;color:var(--muted)}
.pill{display:inline-block;padding:2px 11px;border-radius:999px;font-size:12.5px;font-weight:650;letter-spacing:.03em;vertical-align:4px}
.pass{color:var(--good)}.fail{color:var(--bad)}.unknown{color:var(--muted)}.undecided{color:var(--warn)}
.pill.pass{background:var(--good-soft)}.pill.fail{background:var(--bad-soft)}.pill.undecided{background:var(--warn-soft)}.pill.unknown{background:var(--raised)}
.chart{display:block;width:100%;min-width:660px;height:auto;margin:6px 0}
.scroll{overflow-x:auto;margin:8px 0 2px}
.scroll td,.scroll code{overflow-wrap:break-word}
.scroll .t{min-width:200px}
.i{white-space:nowrap}
table{border-collapse:collapse;width:100%;font-size:13.5px}
th{text-align:left;font-weight:600;color:var(--muted);font-size:12px;border-bottom:1px solid var(--line);padding:5px 12px 5px 0;white-space:nowrap}
td{padding:5px 12px 5px 0;border-bottom:1px solid var(--grid);vertical-align:top;overflow-wrap:anywhere}
tr:last-child td{border-bottom:0}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
th.n{text-align:right}
.w{white-space:nowrap;font-weight:650}
ul{margin:4px 0;padding-left:18px}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;font-size:12.5px}
code{overflow-wrap:anywhere}
pre{background:var(--raised);border-radius:8px;padding:12px 14px;overflow-x:auto;line-height:1.5;margin:8px 0;tab-size:4}
.command{user-select:all}
details{margin-top:10px}
summary{cursor:pointer;color:var(--accent);font-size:13.5px}
.tabs{position:relative}
.tabs input{position:absolute;opacity:0;pointer-events:none}
.tabs label{display:inline-block;padding:2px 12px;border:1px solid var(--line);border-radius:999px;font-size:12.5px;color:var(--muted);cursor:pointer;margin-right:6px}
.tabs input:focus-visible+label{outline:2px solid var(--accent)}
#by-time:checked+label,#by-probe:checked+label{color:var(--accent);border-color:var(--accent);background:var(--accent-soft)}
.pane{display:none}
#by-time:checked~.pane-time,#by-probe:checked~.pane-probe{display:block}
footer{color:var(--muted);font-size:12.5px;margin-top:20px}
@media (max-width:720px){.hero{grid-template-columns:1fr}section{padding:16px 14px}.figure{font-size:44px}}
@media print{body{background:#fff}section{break-inside:avoid;border-color:#ccc}.tabs label{display:none}.pane{display:block}}
)css";
}

} // namespace kw
