// Arms whose means are dragged, by mouse, finger or keys
(function () {
  var values = [];
  function send() { Shiny.setInputValue("means", values.slice()); }
  function show(arm, i) {
    arm.querySelector(".bar").style.height = 100 * values[i] + "%";
    arm.querySelector(".value").textContent = values[i].toFixed(2);
    arm.setAttribute("aria-valuenow", values[i].toFixed(2));
  }
  function set(arm, i, value) {
    value = Math.round(100 * Math.min(1, Math.max(0, value))) / 100;
    if (value === values[i]) return;
    values[i] = value;
    show(arm, i);
    send();
  }
  function draw() {
    var box = document.getElementById("means");
    box.textContent = "";
    values.forEach(function (value, i) {
      var arm = document.createElement("div");
      arm.className = "arm";
      arm.tabIndex = 0;
      [["role", "slider"], ["aria-label", "Mean reward of arm " + (i + 1)], ["aria-valuemin", 0], ["aria-valuemax", 1],
       ["aria-orientation", "vertical"]].forEach(function (a) { arm.setAttribute(a[0], a[1]); });
      ["bar", "name", "value"].forEach(function (part) {
        var element = document.createElement("div");
        element.className = part;
        arm.appendChild(element);
      });
      arm.querySelector(".name").textContent = String.fromCharCode(97 + i);
      function drag(event) {
        var place = arm.getBoundingClientRect();
        set(arm, i, 1 - (event.clientY - place.top) / place.height);
      }
      arm.addEventListener("pointerdown", function (event) {
        try { arm.setPointerCapture(event.pointerId); } catch (e) { /* a pointer that is already gone */ }
        drag(event);
      });
      arm.addEventListener("pointermove", function (event) { if (event.buttons) drag(event); });
      arm.addEventListener("keydown", function (event) {
        var step = { ArrowUp: 0.01, ArrowDown: -0.01, PageUp: 0.1, PageDown: -0.1 }[event.key];
        if (step) { set(arm, i, values[i] + step); event.preventDefault(); }
      });
      box.appendChild(arm);
      show(arm, i);
    });
  }
  $(document).on("shiny:connected", function () {
    values = JSON.parse(document.getElementById("means").dataset.start);
    draw();
    send();
    document.getElementById("more").addEventListener("click", function () {
      if (values.length < 8) { values.push(0.5); draw(); send(); }
    });
    document.getElementById("fewer").addEventListener("click", function () {
      if (values.length > 2) { values.pop(); draw(); send(); }
    });
  });
})();
