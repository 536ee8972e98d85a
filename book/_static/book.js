/* What scrolls sideways in its own box can be reached and scrolled with the keyboard, and says so to a screen reader;
   what does not scroll is no stop on the way. The theme looks only once, at some boxes, and never inside a closed dropdown:
   an observer also sees boxes that open, that MathJax fills, and that a turned phone makes narrower. */
const boxes = "pre, .cell_output > .output, .figure-box, .pst-scrollable-table-container";
const fade = (box) => box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
const mark = (box) => {
  fade(box);
  const scrolls = box.scrollWidth > box.clientWidth;
  box.tabIndex = scrolls ? 0 : -1;
  if (scrolls) {
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Wide content, scrolls sideways");
  } else if (box.getAttribute("role") === "group") {
    box.removeAttribute("role");
    box.removeAttribute("aria-label");
  }
};
const observer = new ResizeObserver((changes) => changes.forEach((change) => mark(change.target)));
document.querySelectorAll(`.bd-article :is(${boxes})`).forEach((box) => {
  observer.observe(box);
  box.addEventListener("scroll", () => fade(box), { passive: true });
});

/* The theme's print button. */
document.querySelectorAll(".btn-download-pdf-button").forEach((button) => button.addEventListener("click", () => print()));
