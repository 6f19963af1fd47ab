"""The programs: the packages that they come in, how each is filled and served, and what of its pages is a text."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.live_software.content import folder_tree, mails, repository, text, title

_APACHE_PACKAGES = ("apache2", "libapache2-mod-php")
_DOKUWIKI_FOLDERS = "pages attic media media_attic media_meta meta cache index locks tmp log"
_APACHE_MODULES = "mpm_prefork authz_core mime dir alias env cgi autoindex rewrite php"
_APACHE = """
ServerRoot "{folder}"
ServerName 127.0.0.1
Listen 127.0.0.1:{port}
PidFile "{folder}/apache.pid"
ErrorLog "{folder}/apache.log"
User www-data
Group www-data
TypesConfig /etc/mime.types
DocumentRoot "{folder}/www"
DirectoryIndex index.php index.html
<Directory />
    Require all granted
    Options Indexes FollowSymLinks ExecCGI
    AllowOverride None
    AcceptPathInfo On
</Directory>
<FilesMatch "\\.php$">
    SetHandler application/x-httpd-php
</FilesMatch>
AddHandler cgi-script .cgi
{more}
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a program is filled and served."""

    folder: Path  # empty, its own
    port: int  # of 127.0.0.1
    bin: Path  # of the packages from PyPI
    helpers: list[subprocess.Popen[bytes]] = field(default_factory=list)  # servers beside the program's own

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def run(self, *command: object, stdin: str = "", **environment: str) -> str:
        """Run a command in the folder to its end; its output. A CalledProcessError says that it failed."""
        return subprocess.run(
            [str(part) for part in command],
            cwd=self.folder,
            check=True,
            input=stdin,
            text=True,
            stdout=subprocess.PIPE,
            env={**os.environ, **environment},
        ).stdout

    def start(self, *command: object) -> subprocess.Popen[bytes]:
        """Start a server, in a process group of its own."""
        parts = [str(part) for part in command]
        with (self.folder / f"{Path(parts[0]).name}.log").open("wb") as log:
            return subprocess.Popen(parts, cwd=self.folder, stdout=log, stderr=log, start_new_session=True)

    def apache(self, more: str = "") -> list[str]:
        """The command of a server of `www` in the folder, with PHP, CGI and listings."""
        (self.folder / "www").mkdir(exist_ok=True)
        modules = {path.name for path in Path("/usr/lib/apache2/modules").glob("*.so")}
        php = next((name for name in modules if name.startswith("libphp")), "")
        lines = [
            f"LoadModule {name}_module /usr/lib/apache2/modules/{php if name == 'php' else f'mod_{name}.so'}"
            for name in _APACHE_MODULES.split()
            if (php if name == "php" else f"mod_{name}.so") in modules
        ]
        config = self.folder / "apache.conf"
        served = _APACHE.format(folder=self.folder, port=self.port, more=more)
        config.write_text("\n".join(lines) + served, encoding="utf-8")
        subprocess.run(["chown", "-R", "www-data", str(self.folder)], check=True)
        return ["/usr/sbin/apache2", "-DFOREGROUND", "-f", str(config)]


@dataclass(frozen=True, slots=True)
class Live:
    """One program."""

    name: str  # as in dedupcrawl/software, where it has a file
    make: Callable[[Place], Sequence[str]]  # fills it; the command that serves it
    debian: Sequence[str] = ()  # packages
    pypi: Sequence[str] = ()
    start: str = "/"
    main: str = ""  # CSS selectors of what its pages say
    passing: str = ""  # what is another text at each fetch
    skip: str = ""  # URLs that are not asked for


def apache_listing(place: Place) -> Sequence[str]:
    folder_tree(place.folder / "www")
    return place.apache("IndexOptions FancyIndexing HTMLTable")


def nginx_listing(place: Place) -> Sequence[str]:
    folder_tree(place.folder / "www")
    config = place.folder / "nginx.conf"
    config.write_text(
        "load_module /usr/lib/nginx/modules/ngx_http_fancyindex_module.so; daemon off;\n"
        f"pid {place.folder}/nginx.pid; error_log {place.folder}/nginx.log; events {{}}\n"
        f"http {{ access_log off; server {{ listen 127.0.0.1:{place.port}; root {place.folder}/www; "
        "fancyindex on; } }\n",
        encoding="utf-8",
    )
    place.run("chmod", "-R", "a+rX", place.folder)
    return ["/usr/sbin/nginx", "-e", f"{place.folder}/nginx.log", "-c", str(config)]


def cgit(place: Place) -> Sequence[str]:
    repository(place.folder / "git" / "garden")
    options = "enable-index-links enable-log-filecount enable-blame enable-commit-graph enable-tree-linenumbers"
    lines = [f"{name}=1" for name in options.split()]
    lines += ["virtual-root=/cgit", "snapshots=tar.gz", "cache-size=0", f"scan-path={place.folder}/git"]
    (place.folder / "cgitrc").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return place.apache(
        f"SetEnv CGIT_CONFIG {place.folder}/cgitrc\nAlias /cgit.css /usr/share/cgit/cgit.css\n"
        "ScriptAlias /cgit /usr/lib/cgit/cgit.cgi"
    )


def gitweb(place: Place) -> Sequence[str]:
    repository(place.folder / "git" / "garden", 4)
    config = place.folder / "gitweb.conf"
    features = "".join(f"$feature{{'{name}'}}{{'default'}} = [1];\n" for name in ("blame", "search", "snapshot"))
    config.write_text(f"$projectroot = '{place.folder}/git';\n{features}", encoding="utf-8")
    return place.apache(
        f"SetEnv GITWEB_CONFIG {config}\nAlias /static /usr/share/gitweb/static\n"
        "ScriptAlias /gitweb /usr/share/gitweb/gitweb.cgi"
    )


def dokuwiki(place: Place) -> Sequence[str]:
    www = place.folder / "www"
    shutil.copytree("/usr/share/dokuwiki", www, symlinks=False, ignore_dangling_symlinks=True)
    (www / "inc" / "preload.php").unlink()
    shutil.copytree("/etc/dokuwiki", www / "conf")
    for name in _DOKUWIKI_FOLDERS.split():
        (www / "data" / name).mkdir(parents=True, exist_ok=True)
    settings = {"title": "Garden", "lang": "en", "license": "", "useacl": 0, "savedir": "./data"}
    (www / "conf" / "local.php").write_text(
        "<?php\n" + "".join(f"$conf['{name}'] = {value!r};\n" for name, value in settings.items()), encoding="utf-8"
    )
    names = ["start", *(f"{('tools:', 'plants:', '')[n % 3]}{title(n).lower().replace(' ', '_')}" for n in range(36))]
    for number, name in enumerate(names):
        links = " ".join(f"[[:{other}]]" for other in names[number : number + 4])
        for change in range(1 + number % 3):
            page = f"====== {title(number)} ======\n\n{text(number + 100 * change)}\n\n{links}\n"
            path = (
                www / "data" / "pages" / f"{name.replace(':', '/')}.txt" if change == 0 else place.folder / "page.txt"
            )
            path.parent.mkdir(exist_ok=True)
            path.write_text(page, encoding="utf-8")
            if change:
                place.run("php", www / "bin" / "dwpage.php", "commit", "-m", f"change {change}", "page.txt", name)
    return place.apache()


def trac(place: Place) -> Sequence[str]:
    repository(place.folder / "git", 3)
    admin, env = place.bin / "trac-admin", place.folder / "env"
    place.run(admin, env, "initenv", "Garden", "sqlite:db/trac.db")
    with (env / "conf" / "trac.ini").open("a", encoding="utf-8") as file:
        file.write("\n[components]\ntracopt.versioncontrol.git.* = enabled\n")
        file.write(f"[repositories]\n.dir = {place.folder}/git/.git\n.type = git\n")
    place.run(admin, env, "repository", "resync", "*")
    place.run(admin, env, "wiki", "remove", "Trac*")
    place.run(admin, env, "wiki", "remove", "Wiki[A-RT-Z]*")
    script = [
        "from trac.env import open_environment", "from trac.ticket.model import Ticket", "import sys",
        "env = open_environment(sys.argv[1])",
        "for line in sys.stdin:",
        "    summary, description, owner = line.rstrip('\\n').split('\\t')",
        "    ticket = Ticket(env)",
        "    ticket.populate(dict(summary=summary, description=description, reporter=owner, owner=owner, status='new',",
        "        milestone='milestone%d' % (len(summary) % 4 + 1), component='component1', type='task'))",
        "    ticket.insert()",
        "    ticket.save_changes(owner, 'First: ' + summary)",
    ]  # fmt: skip
    rows = "".join(f"{title(n)}\t{text(n, 1)}\t{'ada' if n % 2 else 'ben'}\n" for n in range(20))
    place.run(place.bin / "python", "-c", "\n".join(script), env, stdin=rows)
    return [str(place.bin / "tracd"), "-s", "--hostname", "127.0.0.1", "--port", str(place.port), str(env)]


def roundup(place: Place) -> Sequence[str]:
    admin, tracker = place.bin / "roundup-admin", place.folder / "tracker"
    place.run(admin, "-i", tracker, "install", "classic", "anydbm")
    changes = {"web": f"{place.root}/", "domain": "example.org", "host": "localhost"}
    options = "".join(f"s|^#* *{name} *=.*|{name} = {value}|;" for name, value in changes.items())
    place.run("sed", "-i", options, tracker / "config.ini")
    place.run(admin, "-i", tracker, "initialise", "secret")
    lines = [
        f"create msg author=1 'content={text(n, 2)}' 'summary={title(n)}'\n".replace("\n\n", " ")
        + f"create issue 'title={title(n)}' priority={n % 4 + 1} status={n % 3 + 1} messages={n + 1} assignedto=1\n"
        for n in range(20)
    ]
    place.run(admin, "-i", tracker, stdin="".join(lines) + "commit\nquit\n")
    server = f"make_server('127.0.0.1', {place.port}, RequestDispatcher('{tracker}')).serve_forever()"
    imports = "from wsgiref.simple_server import make_server; from roundup.cgi.wsgi_handler import RequestDispatcher"
    return [str(place.bin / "python"), "-c", f"{imports}; {server}"]


def mediawiki(place: Place) -> Sequence[str]:
    wiki = place.folder / "www" / "w"
    shutil.copytree("/usr/share/mediawiki", wiki, symlinks=False, ignore_dangling_symlinks=True)
    (wiki / "LocalSettings.php").unlink(missing_ok=True)
    place.run(
        "php", wiki / "maintenance" / "install.php", "--dbtype", "sqlite", "--dbpath", place.folder,
        "--server", place.root, "--scriptpath", "/w", "--pass", "a long secret 7", "--skins", "Vector,MonoBook",
        "Garden", "Admin",
    )  # fmt: skip
    with (wiki / "LocalSettings.php").open("a", encoding="utf-8") as file:
        file.write("\n$wgArticlePath = '/wiki/$1';\n$wgUsePathInfo = true;\n")
        file.write("$wgJobRunRate = 0;\n$wgParserCacheType = CACHE_NONE;\n")
    for number in range(5):
        links = " ".join(f"[[{title(other)}]]" for other in range(number, number + 4))
        end = f"[[Category:{('Tools', 'Plants')[number % 2]}]]"
        for change in range(1 + number % 2):
            page = f"{text(number + 100 * change)}\n\n{links}\n{end}\n"
            name = "Main Page" if number == 0 else title(number)
            place.run(
                "php", wiki / "maintenance" / "edit.php", "-u", "Admin", "-s", f"change {change}", name, stdin=page
            )
    return place.apache(f"Alias /wiki {wiki}/index.php")


def mhonarc(place: Place) -> Sequence[str]:
    (place.folder / "list.mbox").write_text("".join(mails()), encoding="utf-8")
    (place.folder / "www").mkdir()
    place.run("mhonarc", "-quiet", "-multipg", "-idxsize", "15", "-outdir", place.folder / "www", "list.mbox")
    return place.apache("DirectoryIndex maillist.html")


def wordpress(place: Place) -> Sequence[str]:
    www, socket = place.folder / "www", place.folder / "sql.socket"
    shutil.copytree("/usr/share/wordpress", www, symlinks=False, ignore_dangling_symlinks=True)
    place.run("chown", "-R", "mysql", place.folder)
    database = [f"--datadir={place.folder}/sql", "--user=mysql"]
    place.run("mariadb-install-db", "--auth-root-authentication-method=normal", *database)
    server = ["/usr/sbin/mariadbd", "--no-defaults", f"--socket={socket}", "--skip-networking", *database]
    place.helpers.append(place.start(*server))
    for _ in range(100):
        if socket.exists():
            break
        time.sleep(0.2)
    create = "CREATE DATABASE blog; GRANT ALL ON blog.* TO blog@localhost IDENTIFIED BY 'blog';"
    place.run("mariadb", "-u", "root", "-S", socket, stdin=create)
    names = {"DB_NAME": "blog", "DB_USER": "blog", "DB_PASSWORD": "blog", "DB_HOST": f"localhost:{socket}"}
    names |= {"WP_HOME": place.root, "WP_SITEURL": place.root, "WP_CONTENT_DIR": f"{www}/wp-content"}
    lines = ["<?php", *(f"define('{name}', '{value}');" for name, value in names.items()), "$table_prefix = 'wp_';"]
    lines += [f"defined('ABSPATH') || define('ABSPATH', '{www}/');", "define('WP_HTTP_BLOCK_EXTERNAL', true);"]
    lines += ["define('DISABLE_WP_CRON', true);", "require_once ABSPATH . 'wp-settings.php';"]
    (www / "wp-config.php").write_text("\n".join(lines) + "\n", encoding="utf-8")
    posts = ",".join(f"['{title(n)}', '{text(n)}', '{('tools', 'plants')[n % 2]}', {n % 3}]" for n in range(24))
    script = f"""<?php
define('WP_INSTALLING', true); $_SERVER['HTTP_HOST'] = '127.0.0.1:{place.port}'; require '{www}/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php'; require_once ABSPATH . 'wp-admin/includes/taxonomy.php';
wp_install('Garden', 'ada', 'ada@example.org', true, '', 'secret');
switch_theme('twentytwentyone'); update_option('permalink_structure', '/%year%/%monthnum%/%postname%/');
foreach ([{posts}] as $at => $post) {{
    $id = wp_insert_post(['post_title' => $post[0], 'post_content' => $post[1], 'post_status' => 'publish',
        'post_author' => 1, 'tags_input' => [$post[2]], 'post_category' => [wp_create_category($post[2])],
        'post_type' => $at % 8 == 7 ? 'page' : 'post', 'post_date' => gmdate('Y-m-d H:i:s', 17e8 + 4e5 * $at)]);
    for ($n = 0, $on = 0; $n < $post[3]; $n++)
        $on = wp_insert_comment(['comment_post_ID' => $id, 'comment_parent' => $on, 'comment_author' => 'Ben',
            'comment_content' => $post[0] . ' ' . $n, 'comment_approved' => 1]);
}}
"""
    (place.folder / "fill.php").write_text(script, encoding="utf-8")
    place.run("php", place.folder / "fill.php")
    command = place.apache("<Directory />\nFallbackResource /index.php\n</Directory>")
    place.run("chown", "-R", "mysql", place.folder / "sql")
    return command


def mercurial(place: Place) -> Sequence[str]:
    repository(place.folder / "git")
    place.run("hg", "--config", "extensions.convert=", "convert", "git", "hg", HGUSER="ada")
    return ["hg", "serve", "-R", f"{place.folder}/hg", "-a", "127.0.0.1", "-p", str(place.port)]


def lighttpd_listing(place: Place) -> Sequence[str]:
    folder_tree(place.folder / "www")
    config = place.folder / "lighttpd.conf"
    config.write_text(
        f'server.document-root = "{place.folder}/www"\nserver.port = {place.port}\nserver.bind = "127.0.0.1"\n'
        'server.modules = ("mod_dirlisting")\ndir-listing.activate = "enable"\n',
        encoding="utf-8",
    )
    return ["/usr/sbin/lighttpd", "-D", "-f", str(config)]


# fmt: off
PROGRAMS = (
    Live("apache", apache_listing, _APACHE_PACKAGES),
    Live("nginx", nginx_listing, ("nginx-light", "libnginx-mod-http-fancyindex")),
    Live("lighttpd", lighttpd_listing, ("lighttpd",)),
    Live("cgit", cgit, (*_APACHE_PACKAGES, "cgit", "git"), start="/cgit/", main="div.content"),
    Live("gitweb", gitweb, (*_APACHE_PACKAGES, "gitweb", "git", "libcgi-pm-perl"), start="/gitweb", skip="a=snapshot"),
    Live("hgweb", mercurial, ("mercurial", "git"), main="div.main", skip="revcount=(?!30|60|120)"),
    Live("dokuwiki", dokuwiki, (*_APACHE_PACKAGES, "dokuwiki", "php-xml"), start="/doku.php",
         main="#dokuwiki__content div.page", skip="do=edit"),
    Live("mediawiki", mediawiki, (*_APACHE_PACKAGES, "mediawiki", "php-sqlite3"), start="/wiki/Main_Page",
         main="#content",
         skip=r"Special:(?!WhatLinksHere|Contributions|UserLogin|LongPages|Search)|api\.php|uselang|action=edit"),
    Live("trac", trac, pypi=("trac", "setuptools<80"), start="/wiki", main="#content", skip=r"timeline\?.*daysback"),
    Live("roundup", roundup, pypi=("roundup",), main="td.content"),
    Live("wordpress", wordpress,
         (*_APACHE_PACKAGES, "wordpress", "wordpress-theme-twentytwentyone", "php-mysql", "mariadb-server"),
         main="main", passing=r"Leave a (comment|Reply to \w+ Cancel reply)"),
    Live("mhonarc", mhonarc, (*_APACHE_PACKAGES, "mhonarc")),
)
# fmt: on
