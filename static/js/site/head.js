// The head of a wide table stays at the top of the window while the page scrolls: the region scrolls sideways only.

export function stickHead(region) {
  const head = region.querySelector("thead");
  region.classList.add("is-in-page");
  let frame = 0;
  const place = () => {
    frame = 0;
    const box = region.getBoundingClientRect();
    const most = box.height - head.offsetHeight;
    const shift = Math.round(Math.min(Math.max(0, -box.top), Math.max(0, most)));
    head.style.transform = shift ? `translateY(${shift}px)` : "";
    head.classList.toggle("is-stuck", shift > 0);
  };
  addEventListener("scroll", () => (frame ||= requestAnimationFrame(place)), { passive: true });
  addEventListener("resize", () => (frame ||= requestAnimationFrame(place)), { passive: true });
  place();
}
