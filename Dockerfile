# The service without a database: it needs WINDTUNNEL_DATABASE_URL (see docker-compose.yml).
FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY app app
COPY migrations migrations
# Without pip, and of botocore's four hundred services those whose models are read.
RUN python -m venv --without-pip /opt/windtunnel \
 && pip --python /opt/windtunnel/bin/python install --no-cache-dir -c constraints.txt '.[search,vertex]' \
 && find /opt/windtunnel/lib/python3.13/site-packages/botocore/data -mindepth 1 -maxdepth 1 -type d \
      ! -name sagemaker ! -name ce -exec rm -r {} +

FROM python:3.13-slim
RUN useradd --system --uid 10001 --no-create-home windtunnel \
 && install -d -o windtunnel /var/lib/windtunnel
COPY --from=build /opt/windtunnel /opt/windtunnel
ENV PATH=/opt/windtunnel/bin:$PATH PYTHONUNBUFFERED=1 WINDTUNNEL_LOG_FORMAT=json XDG_DATA_HOME=/var/lib
USER windtunnel
EXPOSE 4600 4601 4602
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s \
  CMD ["python", "-c", "import os, urllib.request as r; t = os.environ.get('WINDTUNNEL_CONTROL_TOKEN'); \
q = r.Request('http://127.0.0.1:4600/_windtunnel/health', headers={'Authorization': 'Bearer ' + t} if t else {}); \
r.urlopen(q, timeout=2)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["windtunnel"]
# Another address than loopback needs WINDTUNNEL_CONTROL_TOKEN; without it this refuses to start.
CMD ["api", "--host", "0.0.0.0"]
