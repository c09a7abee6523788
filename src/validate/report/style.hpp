// The report's look: light and dark, from a phone's width up, without anything from outside.
#pragma once

namespace osier::validate {

inline constexpr const char* kReportStyle = R"css(
:root { color-scheme: light dark; --paper: #fbfaf6; --ink: #23282d; --soft: #6a727a; --rule: #ddd9cf; --panel: #ffffff;
  --good: #2c7a4b; --bad: #c02f2f; --wait: #8a6d1d; --good-bg: #e3f2e8; --bad-bg: #fbe3e1; --wait-bg: #f6efd9;
  --c0: #2f6690; --c1: #b5532b; --c2: #4a7c3f; --c3: #7a4e8f; --c4: #a07a1c; --c5: #2b8c87; --c6: #a53f5b; --c7: #5b6470; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181c; --ink: #e3e6e8; --soft: #98a2ab; --rule: #333b43; --panel: #1b2127;
  --good: #6fcf97; --bad: #ff8a80; --wait: #e0c26b; --good-bg: #173325; --bad-bg: #431f1f; --wait-bg: #352d14;
  --c0: #78b4e0; --c1: #f0925f; --c2: #8fc77f; --c3: #c59be0; --c4: #dfb84d; --c5: #62cfc8; --c6: #f084a2; --c7: #aab4be; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; }
h2 { font-size: 1.25rem; margin: 3rem 0 0; }
h3 { font-size: 1.05rem; margin: 2.2rem 0 .2rem; padding-top: .8rem; border-top: 1px solid var(--rule); }
p { margin: .3rem 0 .8rem; max-width: 78ch; }
a { color: inherit; }
.soft { color: var(--soft); font-size: .9rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .7rem; margin: 1rem 0; padding: 0; list-style: none; }
.tiles li { background: var(--panel); border: 1px solid var(--rule); border-radius: .5rem; padding: .5rem .9rem; overflow-wrap: anywhere; }
.tiles b { display: block; font-size: 1.5rem; line-height: 1.2; }
.pass { color: var(--good); } .fail { color: var(--bad); } .needs { color: var(--wait); }
.chip { font-size: .8rem; font-weight: 600; border-radius: 1rem; padding: .1rem .6rem; margin-left: .5rem; white-space: nowrap; }
.chip.pass { background: var(--good-bg); } .chip.fail { background: var(--bad-bg); } .chip.needs { background: var(--wait-bg); }
.scroll { overflow-x: auto; background: var(--panel); border: 1px solid var(--rule); border-radius: .5rem; margin: .6rem 0; }
table { border-collapse: collapse; font-size: .85rem; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .22rem .6rem; text-align: right; white-space: nowrap; }
th { color: var(--soft); font-weight: 600; border-bottom: 1px solid var(--rule); }
th:first-child, td:first-child { text-align: left; }
.overview th, .overview td { white-space: normal; } td.wrap { white-space: normal; min-width: 7rem; text-align: left; }
@media (max-width: 32rem) { .overview th, .overview td { padding: .22rem .35rem; } }
tr.first td { border-top: 1px solid var(--rule); }
tr:nth-child(1).first td { border-top: 0; }
tr.failed { background: var(--bad-bg); }
tr.note td { text-align: left; color: var(--bad); white-space: normal; padding-top: 0; }
summary { cursor: pointer; color: var(--soft); font-size: .9rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 320px), 1fr)); gap: .8rem; margin: .8rem 0; }
figure { margin: 0; background: var(--panel); border: 1px solid var(--rule); border-radius: .5rem; padding: .7rem; }
figcaption { font-size: .85rem; } figcaption b { display: block; }
.key { display: inline-block; margin-right: .8rem; color: var(--soft); font-size: .8rem; white-space: nowrap; }
.key i { display: inline-block; width: .7rem; height: .7rem; border-radius: 50%; margin-right: .3rem; vertical-align: -.05rem; }
.key.square i { border-radius: 0; } .key.triangle i { border-radius: 0; clip-path: polygon(50% 0, 100% 100%, 0 100%); }
svg { display: block; width: 100%; max-width: 30rem; height: auto; margin: 0 auto .3rem; }
svg text { font: 11px system-ui, sans-serif; fill: var(--soft); }
svg path, svg line { fill: none; }
.grid { stroke: var(--rule); stroke-width: 1; }
.c0 { --c: var(--c0); } .c1 { --c: var(--c1); } .c2 { --c: var(--c2); } .c3 { --c: var(--c3); }
.c4 { --c: var(--c4); } .c5 { --c: var(--c5); } .c6 { --c: var(--c6); } .c7 { --c: var(--c7); }
.key i { background: var(--c); }
svg .line { stroke: var(--c); stroke-width: 1.6; }
svg .allowed { stroke: var(--c); stroke-width: 1.3; stroke-dasharray: 5 3; opacity: .8; }
svg .second-order { stroke: var(--soft); stroke-width: 1.3; stroke-dasharray: 1.5 3; }
svg .dot { fill: var(--c); stroke: none; } svg .failed { fill: var(--bad); stroke: none; }
svg .hollow { fill: none; stroke: var(--c); stroke-width: 1.1; opacity: .75; }
svg .curve { stroke: var(--c); stroke-width: 6; opacity: .28; stroke-linejoin: round; stroke-linecap: round; }
svg .rod { stroke: var(--c); stroke-width: 1.1; } svg .vertex { fill: var(--c); }
)css";

}  // namespace osier::validate
