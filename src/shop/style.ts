/** Style of the shop, on top of that of every page. */
export const style = `
[hidden] { display: none !important }
body { align-items: stretch; padding: 0; gap: 0 }
.top {
  display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .25rem 1.5rem;
  padding: .9rem clamp(1rem, 4vw, 2.5rem); border-bottom: 1px solid var(--line);
}
.top p { color: var(--soft); font-size: .8125rem }
.brand { display: flex; align-items: center; gap: .5rem; color: inherit; font-weight: 750; letter-spacing: -.02em; text-decoration: none }
main {
  max-width: 78rem; margin: 0 auto; padding: clamp(1.25rem, 4vw, 3rem) clamp(1rem, 4vw, 2.5rem) 4rem;
  background: none; box-shadow: none; border-radius: 0; flex: 1;
}
main[aria-busy]:empty::before, main[aria-busy]:has(> noscript:only-child)::before {
  content: ''; display: block; width: 2.5rem; height: 2.5rem; margin: 20vh auto; border-radius: 50%;
  border: .25rem solid var(--line); border-top-color: var(--accent); animation: turn 1s linear infinite;
}
/* Without scripts a browser has elements in noscript. */
main[aria-busy]:has(> noscript:only-child > p)::before { display: none }
@keyframes turn { to { transform: rotate(1turn) } }
footer { padding: 1.5rem 1rem 2rem }
.primary, .stepper button {
  border: 0; cursor: pointer; font: inherit; font-weight: 650; background: var(--accent); color: var(--on-accent);
}
.primary { display: inline-block; min-height: 3rem; padding: .7rem 1.4rem; border-radius: .9rem; text-decoration: none; text-align: center; overflow-wrap: normal }
.search .primary { flex: none }
.primary:hover, .stepper button:hover:enabled { filter: brightness(1.12) }
button:disabled { opacity: .45; cursor: default }
.problem:not(:empty) { color: var(--problem); font-weight: 550 }
:root { --problem: #b3261e }
@media (prefers-color-scheme: dark) { :root { --problem: #ffb4ab } }
.hero { display: flex; flex-wrap: wrap; align-items: end; justify-content: space-between; gap: 1.25rem 3rem; margin-bottom: clamp(1.5rem, 4vw, 2.75rem) }
.hero h1 { font-size: clamp(2rem, 6.2vw, 3.6rem); letter-spacing: -.035em; line-height: 1.02; max-width: 15ch }
.search { display: flex; gap: .5rem; flex: 1 1 16rem; max-width: 26rem }
input, select {
  width: 100%; min-height: 3rem; padding: .6rem .9rem; border: 1px solid var(--edge); border-radius: .8rem;
  background: var(--card); color: inherit; font: inherit;
}
:root { --edge: #8d8779 }
@media (prefers-color-scheme: dark) { :root { --edge: #7a7486 } }
input:focus-visible, select:focus-visible, .primary:focus-visible { border-radius: .8rem; outline-offset: 1px }
.events { list-style: none; display: grid; grid-template-columns: repeat(auto-fill, minmax(min(9.25rem, 100%), 1fr)); gap: 1.75rem 1rem }
@media (min-width: 48rem) { .events { grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr)); gap: 2.5rem 1.75rem } }
.card { display: block; color: inherit; text-decoration: none }
.card .poster { display: block; width: 100%; height: auto; aspect-ratio: 3 / 4; border-radius: .9rem; background: var(--line); box-shadow: 0 10px 28px -14px #0009; transition: transform .25s ease }
.card:hover .poster { transform: translateY(-.35rem) rotate(-.4deg) }
.card:focus-visible { outline-offset: 6px; border-radius: .9rem }
.card .when { margin-top: .85rem; color: var(--soft); font-size: .8125rem }
.card h2 { margin-top: .15rem; font-size: 1rem; line-height: 1.3; letter-spacing: -.01em; text-wrap: pretty }
.card:hover h2 { text-decoration: underline; text-underline-offset: .2em; text-decoration-thickness: 1px }
.offer { margin-top: .25rem; font-weight: 650; font-size: .9375rem; color: var(--accent) }
.offer.none { color: var(--soft); font-weight: 450 }
.more { display: block; margin: 2.5rem auto 0 }
.notice { display: grid; gap: 1rem; justify-items: start; max-width: 34rem; margin: 8vh auto; padding: clamp(1.5rem, 6vw, 2.5rem); border-radius: 1.25rem; background: var(--card); box-shadow: var(--shade) }
.notice.good h1::before { content: '✓'; display: inline-grid; place-items: center; width: 1.3em; height: 1.3em; margin-right: .35em; border-radius: 50%; background: #1f7a4d; color: #fff; font-size: .8em }
.lead { font-size: 1.125rem; text-wrap: pretty }
.event { display: grid; gap: 1.5rem clamp(1.5rem, 4vw, 3.5rem) }
.event > .poster img { display: block; width: 100%; max-width: 24rem; height: auto; aspect-ratio: 6 / 7; object-fit: cover; object-position: bottom; border-radius: 1rem; box-shadow: 0 18px 40px -18px #000b }
@media (min-width: 56rem) {
  .event { grid-template-columns: minmax(16rem, 24rem) minmax(0, 1fr); align-items: start }
  .event > .poster { position: sticky; top: 1.5rem; grid-row: span 4 }
  .event > .poster img { max-width: none; aspect-ratio: auto }
}
.about { display: grid; gap: .6rem }
.about h1 { font-size: clamp(1.75rem, 5vw, 2.9rem); letter-spacing: -.03em }
.about .when { font-weight: 600 }
.back { justify-self: start; padding-block: .4rem; font-size: .9375rem }
.facts { display: grid; gap: .3rem 1.5rem; margin-top: .4rem; font-size: .9375rem }
.facts div { display: flex; gap: .75rem }
.facts dt { flex: none; width: 4.5rem; color: var(--soft) }
fieldset { min-width: 0; margin: 0; padding: 0; border: 0 }
.rates { display: grid; gap: .75rem }
.rates > legend { display: flex; align-items: center; gap: .75rem; width: 100%; padding: 0 0 .75rem; font-size: 1.25rem; font-weight: 700; letter-spacing: -.01em }
.live { display: inline-flex; align-items: center; gap: .4rem; color: var(--soft); font-size: .8125rem; font-weight: 500; letter-spacing: 0 }
.live::before { content: ''; width: .55rem; height: .55rem; border-radius: 50%; background: var(--line) }
.live.on::before { background: #2e9e63; animation: pulse 2.4s ease-out infinite }
@keyframes pulse { 0% { box-shadow: 0 0 0 0 #2e9e6399 } 70%, 100% { box-shadow: 0 0 0 .5rem #2e9e6300 } }
.rate {
  display: flex; gap: .9rem; align-items: start; padding: 1rem 1.1rem; border: 1px solid var(--line); border-radius: 1rem;
  background: var(--card); cursor: pointer; transition: border-color .15s;
}
.rate:hover:not(.off) { border-color: var(--accent) }
.rate:has(:checked) { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent) }
.rate:has(:focus-visible) { outline: 3px solid var(--accent); outline-offset: 3px }
.rate.off { background: none; cursor: default; color: var(--soft) }
.rate input { flex: none; width: 1.25rem; min-height: 1.25rem; height: 1.25rem; margin: .15rem 0 0; padding: 0; accent-color: var(--accent) }
.rate input:focus-visible { outline: 0 }
.what { flex: 1; min-width: 0; display: grid; gap: .1rem; font-size: .875rem }
.what .name { font-size: 1rem }
.cost { flex: none; max-width: 48%; display: grid; gap: .2rem; justify-items: end; text-align: end; font-variant-numeric: tabular-nums }
.price { font-size: 1.125rem }
.left { font-size: .8125rem; font-weight: 500; color: var(--soft); border-radius: .4rem }
.few .left { color: var(--problem); font-weight: 650 }
.moved { animation: moved 1.6s ease-out }
@keyframes moved { 0%, 35% { background: var(--accent); color: var(--on-accent); box-shadow: 0 0 0 .25rem var(--accent) } }
.bar { width: 6rem; max-width: 100%; height: .3rem; border-radius: 1rem; background: var(--line); overflow: hidden }
.bar span { display: block; height: 100%; border-radius: inherit; background: var(--accent); transform: scaleX(var(--part, 1)); transform-origin: left; transition: transform .5s ease }
.few .bar span { background: var(--problem) }
.steps { list-style: none; display: flex; flex-wrap: wrap; gap: .3rem .4rem; margin-top: .4rem; font-size: .8125rem; color: var(--soft) }
.steps li { padding: .1rem .55rem; border: 1px solid var(--line); border-radius: 1rem }
.steps .now { border-color: var(--accent); color: var(--accent); font-weight: 600 }
.order { display: grid; gap: 1.1rem; padding: clamp(1.1rem, 4vw, 1.75rem); border-radius: 1.25rem; background: var(--card); box-shadow: var(--shade) }
.order h2 { font-size: 1.25rem; letter-spacing: -.01em }
.count, .stepper { display: flex; align-items: center; justify-content: space-between; gap: 1rem }
.stepper { gap: .35rem }
.stepper button { width: 2.75rem; height: 2.75rem; border-radius: .8rem; font-size: 1.25rem; line-height: 1 }
.stepper output { min-width: 2.25rem; text-align: center; font-size: 1.125rem; font-weight: 650; font-variant-numeric: tabular-nums }
.tickets { display: grid; gap: 1rem }
.ticket { display: grid; gap: .8rem; padding-top: .9rem; border-top: 1px dashed var(--line) }
.ticket legend { float: left; width: 100%; padding: 0; color: var(--soft); font-size: .875rem; font-weight: 600 }
.pair { display: grid; gap: .8rem 1rem; clear: both }
@media (min-width: 40rem) { .pair { grid-template-columns: 1fr 1fr } }
.field { display: grid; gap: .3rem; align-content: start }
.field label { font-size: .875rem; font-weight: 550 }
.field.box { grid-template-columns: auto 1fr; column-gap: .7rem; align-items: center }
.field.box input { width: 1.25rem; height: 1.25rem; min-height: 0; margin: 0; padding: 0; accent-color: var(--accent) }
.field.box label { font-weight: 450; padding-block: .35rem }
.field.box .note-below { grid-column: 2 }
.note-below { font-size: .8125rem; color: var(--soft) }
.note-below:empty { display: none }
[aria-invalid=true] { border-color: var(--problem); box-shadow: 0 0 0 1px var(--problem) }
.pay { display: grid; gap: 1rem; padding-top: 1.1rem; border-top: 1px solid var(--line) }
.pay .primary { min-height: 3.4rem; font-size: 1.0625rem }
.quote { display: grid; gap: .5rem }
.row { display: flex; justify-content: space-between; gap: 1.5rem; font-variant-numeric: tabular-nums }
.row.extra { color: var(--soft); font-size: .9375rem }
.row.total { margin-top: .5rem; padding-top: .7rem; border-top: 1px solid var(--line); font-size: 1.25rem; font-weight: 700 }
@media (prefers-reduced-motion: reduce) { *, ::before, ::after { animation: none !important; transition: none !important } }
@media (forced-colors: active) { .primary, .rate, .card .poster { border: 1px solid } .bar span { background: CanvasText } }
`
