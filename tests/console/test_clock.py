"""The clock's buttons (CT-1)."""

from tests.console.pages import Browser, text


def test_advance_is_told_as_command_and_python(browser: Browser) -> None:
    page = text(browser.post("clock/advance", seconds=10800))
    name = browser.world.name
    assert browser.world.now() == "2026-01-01T03:00:00.000Z"
    assert f"windtunnel clock advance 3h --world {name}" in page
    assert f'httpx.post("{browser.world.base}/w/{name}/_windtunnel/clock/advance", json={{"by": 10800}})' in page
    assert "The clock moved on by 3 h 0 min 0 s" in page


def test_to_the_next_event(browser: Browser) -> None:
    browser.world.capacity("ml.p5.48xlarge", 4, at="2026-01-01T05:00:00Z")
    assert "Next event" in text(browser.get())
    page = text(browser.post("clock/advance", seconds=0))
    assert browser.world.now() == "2026-01-01T05:00:00.000Z"
    assert "1 capacity changes" in page


def test_resume_freeze_and_rate(browser: Browser) -> None:
    assert "Set the rate to 60" in text(browser.post("clock/set", action="rate", rate=60))
    assert 'data-rate="60.0"' in browser.post("clock/set", action="resume")
    assert browser.world.control("GET", "clock")["frozen"] is False
    assert "The clock is frozen" in text(browser.post("clock/set", action="freeze"))


def test_what_cannot_be_is_told(browser: Browser) -> None:
    assert "'seconds' must be from 0 to" in text(browser.post("clock/advance", seconds=10**15))
    assert "must be a whole number" in text(browser.post("clock/advance", seconds="soon"))
    assert "must be one of freeze, resume, rate" in text(browser.post("clock/set", action="stop"))
    assert "No advance of this console is under way" in text(browser.post("clock/stop"))


def test_a_form_leads_back_to_its_page(browser: Browser) -> None:
    root = f"{browser.world.base}/console/{browser.world.name}"
    form = {"seconds": "60"}
    answer = browser.http.post(
        f"{root}/do/clock/advance", data=form, headers={"referer": f"{root}/bar?x=1&done=7"}, follow_redirects=False
    )
    assert answer.headers["location"].startswith(f"/console/{browser.world.name}/bar?x=1&done=")
    other = browser.http.post(
        f"{root}/do/clock/advance", data=form, headers={"referer": "http://evil.com/x"}, follow_redirects=False
    )
    assert other.headers["location"].startswith(f"/console/{browser.world.name}?done=")


def test_a_fault_is_removed_from_the_bar(browser: Browser) -> None:
    rule = browser.world.fault("launch-capacity", group="workers")
    assert "1 fault" in text(browser.get())
    page = text(browser.post("fault/remove", rule=rule))
    assert "0 faults" in page
    assert "Remove fault rule f-1" in page
    assert "There is no fault rule 'f-1'" in text(browser.post("fault/remove", rule=rule))
