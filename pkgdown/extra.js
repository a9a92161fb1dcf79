// What pkgdown's own scripts do with libraries from a CDN, in plain JavaScript, so that
// the site works without internet: a table of contents, copy buttons and a search box.
(function () {
  "use strict";

  function tableOfContents() {
    const nav = document.getElementById("toc");
    if (!nav) return;
    const list = document.createElement("ul");
    list.className = "nav flex-column";
    document.querySelectorAll("main h2, main h3").forEach(function (heading) {
      if (heading.hasAttribute("data-toc-skip")) return;
      const holder = heading.closest("[id]");
      if (!holder || holder.id === "main") return;
      const link = document.createElement("a");
      link.className = "nav-link" + (heading.tagName === "H3" ? " ms-3" : "");
      link.href = "#" + holder.id;
      link.textContent = heading.textContent.trim();
      const item = document.createElement("li");
      item.appendChild(link);
      list.appendChild(item);
    });
    if (list.children.length) nav.appendChild(list);
    else nav.remove();
  }

  function copyButtons() {
    if (!navigator.clipboard) return;
    document.querySelectorAll("div.sourceCode").forEach(function (block) {
      const text = block.textContent.replace(/\n#>[^\n]*/g, "");
      const button = document.createElement("button");
      button.type = "button";
      button.className = "btn btn-sm btn-outline-secondary copy";
      button.textContent = "Copy";
      button.addEventListener("click", function () {
        navigator.clipboard.writeText(text).then(function () {
          button.textContent = "Copied";
          setTimeout(function () { button.textContent = "Copy"; }, 1500);
        });
      });
      block.classList.add("has-copy");
      block.appendChild(button);
    });
  }

  function search() {
    const input = document.getElementById("search-input");
    if (!input) return;
    const box = document.createElement("div");
    box.className = "search-results list-group";
    box.hidden = true;
    input.parentNode.appendChild(box);
    input.form.addEventListener("submit", function (event) {
      event.preventDefault();
      const first = box.querySelector("a");
      if (first) window.location.href = first.href;
    });
    let index = null;
    const source = new URL(input.dataset.searchIndex, window.location.href);
    async function load() {
      if (!index) {
        // pkgdown writes an empty entry for a page without text
        index = (await (await fetch(source)).json()).filter(function (entry) {
          return typeof entry.path === "string";
        });
      }
      return index;
    }
    function score(entry, words) {
      const title = ((entry.title || "") + " " + (entry.what || "") + " " + (entry.path || "")).toLowerCase();
      const text = ((entry.text || "") + " " + (entry.code || "")).toLowerCase();
      let total = 0;
      for (const word of words) {
        const hit = (title.includes(word) ? 10 : 0) + (text.includes(word) ? 1 : 0);
        if (!hit) return 0;
        total += hit;
      }
      return total;
    }
    // Paths in the index are those of a site at the root of a server; ours may be anywhere.
    function address(entry) {
      const path = entry.path.replace(/^(https?:\/\/[^/]*)?\//, "");
      return new URL(path + (entry.id ? "#" + entry.id : ""), source).href;
    }
    input.addEventListener("input", async function () {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      if (input.value.trim().length < 2) { box.hidden = true; return; }
      const found = (await load())
        .map(function (entry) { return [score(entry, words), entry]; })
        .filter(function (pair) { return pair[0] > 0; })
        .sort(function (a, b) { return b[0] - a[0]; })
        .slice(0, 12);
      box.replaceChildren.apply(box, found.map(function (pair) {
        const entry = pair[1];
        const link = document.createElement("a");
        link.className = "list-group-item list-group-item-action";
        link.href = address(entry);
        const title = entry.title || entry.path.replace(/^.*\//, "").replace(/\.html$/, "");
        link.textContent = !entry.what || entry.what === title ? title : title + " › " + entry.what;
        return link;
      }));
      if (!found.length) box.textContent = "Nothing found";
      box.hidden = false;
    });
    document.addEventListener("click", function (event) {
      if (!box.contains(event.target) && event.target !== input) box.hidden = true;
    });
  }

  tableOfContents();
  copyButtons();
  search();
})();
